import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Exchange } from '@restante/service/http'
import { errorReference } from './error-reference.ts'
import { SIGN_IN_PATHS, type SignInPlace, signInConfiguration } from './sign-in-configuration.ts'

/** The files of the viewer's package that a page needs; no others are served. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, persistAuthorization: true })\n`

/** The page loads nothing from other origins, and must not be framed: a key can be typed into it. */
const PAGE_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"

export interface DocumentOptions extends SignInPlace {
  readonly openapiFile: string
}

/** The OpenAPI document and its viewer, served from this installation: nothing is loaded from anywhere else; and where sign-in is. */
export class Documents {
  readonly #openapiFile: string
  readonly #signIn: string | undefined
  readonly #assets = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  /**
   * Each file is read and compressed only once, because the files are megabytes in size and are served without a key.
   */
  readonly #files = new Map<string, Promise<StaticFile>>()

  constructor(options: DocumentOptions) {
    this.#openapiFile = options.openapiFile
    this.#signIn = signInConfiguration(options)
  }

  /** Whether the path is reserved for documents, even if there is no document of that name. */
  matches({ path: requested, request }: Exchange): boolean {
    const isDocument = requested === '/openapi.json' || requested === '/docs' || requested.startsWith('/docs/')
    return (isDocument || SIGN_IN_PATHS.has(requested)) && (request.method === 'GET' || request.method === 'HEAD')
  }

  /** @returns whether the path was one of the documents. */
  async serve(exchange: Exchange): Promise<boolean> {
    const { path: requested } = exchange
    exchange.facts['operation'] = 'documents'
    if (requested === '/openapi.json') return this.#sendOpenapi(exchange)
    if (SIGN_IN_PATHS.has(requested)) {
      return this.#signIn !== undefined && send(exchange, 'application/json; charset=utf-8', this.#signIn)
    }
    const name = requested.slice('/docs/'.length)
    if (name === '') return send(exchange, 'text/html; charset=utf-8', PAGE)
    if (name === 'errors') return send(exchange, 'text/html; charset=utf-8', errorReference())
    if (name === 'start.js') return send(exchange, 'text/javascript; charset=utf-8', START)
    return this.#sendAsset(exchange, name)
  }

  async #sendOpenapi(exchange: Exchange): Promise<boolean> {
    sendFile(exchange, 'application/json; charset=utf-8', 'no-cache', await this.#read(this.#openapiFile))
    return true
  }

  /** A failed read is retried by the next request. */
  #read(file: string): Promise<StaticFile> {
    const known = this.#files.get(file)
    if (known !== undefined) return known
    const read = readStatic(file).catch((error: unknown) => {
      this.#files.delete(file)
      throw error
    })
    this.#files.set(file, read)
    return read
  }

  async #sendAsset(exchange: Exchange, name: string): Promise<boolean> {
    const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (type === undefined) return false
    sendFile(exchange, type, 'public, max-age=3600', await this.#read(path.join(this.#assets, name)))
    return true
  }
}

/** A file, and its compressed form where that is smaller. */
interface StaticFile {
  readonly plain: Buffer
  readonly gzipped: Buffer | undefined
}

async function readStatic(file: string): Promise<StaticFile> {
  const plain = await readFile(file)
  const gzipped = await promisify(gzip)(plain)
  return { plain, gzipped: gzipped.length < plain.length ? gzipped : undefined }
}

const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i

function sendFile({ request, response }: Exchange, type: string, cached: string, file: StaticFile): void {
  const { plain, gzipped } = file
  const takesGzip = TAKES_GZIP.test(String(request.headers['accept-encoding'] ?? ''))
  const body = takesGzip && gzipped !== undefined ? gzipped : plain
  response.setHeader('content-type', type)
  response.setHeader('cache-control', cached)
  response.setHeader('content-length', body.length)
  response.setHeader('vary', 'Accept-Encoding')
  if (body === gzipped) response.setHeader('content-encoding', 'gzip')
  response.end(body)
}

function send({ response }: Exchange, type: string, body: string | Buffer): boolean {
  response.setHeader('content-type', type)
  response.setHeader('cache-control', 'no-cache')
  response.setHeader('content-length', Buffer.byteLength(body))
  if (type.startsWith('text/html')) response.setHeader('content-security-policy', PAGE_POLICY)
  response.end(body)
  return true
}
