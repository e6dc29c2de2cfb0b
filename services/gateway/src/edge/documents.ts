import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Exchange } from '@restante/service'
import { errorReference } from './error-reference.ts'

/** What of the viewer's package a page needs; nothing else of it is served. */
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

/** The page loads nothing from elsewhere, and nothing may frame it: a key can be typed into it. */
const PAGE_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"

/** The OpenAPI document and its viewer, served from this installation: nothing is loaded from anywhere else. */
export class Documents {
  readonly #openapiFile: string
  readonly #assets = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  #openapi: Promise<Buffer> | undefined

  constructor(options: { readonly openapiFile: string }) {
    this.#openapiFile = options.openapiFile
  }

  /** Whether a document is asked for, or would be if there were one by that name. */
  concerns({ path: requested, request }: Exchange): boolean {
    const known = requested === '/openapi.json' || requested === '/docs' || requested.startsWith('/docs/')
    return known && (request.method === 'GET' || request.method === 'HEAD')
  }

  /** @returns whether the path was one of the documents. */
  async serve(exchange: Exchange): Promise<boolean> {
    const { path: requested } = exchange
    exchange.facts['operation'] = 'documents'
    if (requested === '/openapi.json') return this.#sendOpenapi(exchange)
    const name = requested.slice('/docs/'.length)
    if (name === '') return send(exchange, 'text/html; charset=utf-8', PAGE)
    if (name === 'errors') return send(exchange, 'text/html; charset=utf-8', errorReference())
    if (name === 'start.js') return send(exchange, 'text/javascript; charset=utf-8', START)
    return this.#sendAsset(exchange, name)
  }

  async #sendOpenapi(exchange: Exchange): Promise<boolean> {
    // A file that could not be read is tried again by the next request.
    this.#openapi ??= readFile(this.#openapiFile).catch((error: unknown) => {
      this.#openapi = undefined
      throw error
    })
    return send(exchange, 'application/json; charset=utf-8', await this.#openapi)
  }

  async #sendAsset({ request, response }: Exchange, name: string): Promise<boolean> {
    const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (type === undefined) return false
    const file = path.join(this.#assets, name)
    const { size } = await stat(file)
    response.setHeader('content-type', type)
    response.setHeader('content-length', size)
    response.setHeader('cache-control', 'public, max-age=3600')
    if (request.method === 'HEAD') response.end()
    else await pipeline(createReadStream(file), response)
    return true
  }
}

function send({ response }: Exchange, type: string, body: string | Buffer): boolean {
  response.setHeader('content-type', type)
  response.setHeader('cache-control', 'no-cache')
  response.setHeader('content-length', Buffer.byteLength(body))
  if (type.startsWith('text/html')) response.setHeader('content-security-policy', PAGE_POLICY)
  response.end(body)
  return true
}
