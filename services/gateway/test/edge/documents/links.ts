import { request } from 'undici'
import { PUBLIC_URL } from '../../gateway.ts'

/** What browsers accept. */
export const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

/** A document as it was served. */
export interface Served {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Reads a path of a gateway. */
export async function read(url: string, path: string, headers: Record<string, string> = {}): Promise<Served> {
  const { statusCode, headers: answered, body } = await request(`${url}${path}`, { headers })
  return { status: statusCode, type: String(answered['content-type']), text: await body.text() }
}

/** A link that leads nowhere, and where it is. */
interface BrokenLink {
  readonly on: string
  readonly to: string
}

/** Follows all links from some paths to everything that the gateway serves, as a browser. */
export async function walk(
  url: string,
  from: readonly string[],
): Promise<{ readonly seen: ReadonlyMap<string, Served>; readonly broken: readonly BrokenLink[] }> {
  const seen = new Map<string, Served>()
  const links: (BrokenLink & { readonly fragment: string | undefined })[] = []
  const open = [...from]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue
    const served = await read(url, path, { accept: BROWSER })
    seen.set(path, served)
    for (const target of linksOf(served)) {
      const { pathname, hash, origin } = new URL(target, `${PUBLIC_URL}${path}`)
      if (origin !== PUBLIC_URL) continue
      open.push(pathname)
      links.push({ on: path, to: pathname, fragment: hash === '' ? undefined : hash.slice(1) })
    }
  }
  const broken = links.filter(({ to, fragment }) => {
    const target = seen.get(to)
    if (target?.status !== 200) return true
    return fragment !== undefined && !anchorsOf(target).has(fragment)
  })
  return { seen, broken: broken.map(({ on, to, fragment }) => ({ on, to: fragment ? `${to}#${fragment}` : to })) }
}

function linksOf({ type, text }: Served): string[] {
  if (type.startsWith('text/html')) {
    return [...text.matchAll(/<(?:a|link|img|script)\b[^>]*? (?:href|src)="([^"]+)"/g)].map(([, target = '']) => target)
  }
  if (!/^text\/(markdown|plain)/.test(type)) return []
  const prose = text.replace(/^ *```[\s\S]*?^ *```|`[^`\n]+`(?!\])/gm, '')
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
}

function anchorsOf({ type, text }: Served): ReadonlySet<string> {
  if (type.startsWith('text/html')) return new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id))
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
