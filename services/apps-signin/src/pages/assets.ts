import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { PAGE_STYLE } from '@restante/service/pages'

/** A file that pages load. */
export interface Asset {
  readonly type: string
  readonly body: Buffer
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const FOLDER = path.join(import.meta.dirname, 'assets')

const files: ReadonlyMap<string, Asset> = new Map(
  readdirSync(FOLDER)
    .sort()
    .flatMap((name) => {
      const type = TYPES[path.extname(name)]
      return type === undefined ? [] : [[name, readAsset(path.join(FOLDER, name), type)] as const]
    }),
)

/** One version for all files, so that the modules find each other by relative paths. */
const VERSION = hash([...files].map(([name, { etag }]) => `${name} ${etag}`).join('\n'))

/** The style of these pages adds to that of all pages. */
function readAsset(file: string, type: string): Asset {
  const body = file.endsWith('/style.css') ? Buffer.from(PAGE_STYLE + readFileSync(file, 'utf8')) : readFileSync(file)
  return { type, body, etag: `"${hash(body)}"` }
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16)
}

/** @throws Error for a name that is no file: a page that would not work. */
export function assetPath(name: string): string {
  if (!files.has(name)) throw new Error(`no asset ${name}`)
  return `/assets/${VERSION}/${name}`
}

/**
 * The file of a path. While two releases run together, a page of one can ask the other for its files: it gets those that
 * are here, which are not to be kept.
 */
export function findAsset(version: string, name: string): { asset: Asset; immutable: boolean } | undefined {
  const asset = files.get(name)
  return asset && { asset, immutable: version === VERSION }
}
