import type { Exchange } from '@restante/service/http'
import type { PublicRoute } from '../http/public-routes.ts'
import { sendPage } from '../http/response.ts'
import { findAsset } from './assets.ts'
import { sessionsPage } from './sessions.ts'

const A_YEAR = 31_536_000

/** The pages and files that need no row. */
export function pageRoutes(): PublicRoute[] {
  const sessions = sessionsPage()
  return [
    {
      method: 'GET',
      path: '/sessions',
      operation: 'signin.sessions',
      head: true,
      serve: async ({ response }) => sendPage(response, sessions),
    },
    {
      method: 'GET',
      path: '/assets/{version}/{name}',
      operation: 'signin.asset',
      head: true,
      serve: async (exchange, { version = '', name = '' }) => sendAsset(exchange, version, name),
    },
  ]
}

function sendAsset({ request, response }: Exchange, version: string, name: string): void {
  const found = findAsset(version, name)
  if (found === undefined) {
    response.writeHead(404, { 'content-length': 0 }).end()
    return
  }
  const { asset, immutable } = found
  response.setHeader('cache-control', immutable ? `public, max-age=${A_YEAR}, immutable` : 'no-cache')
  response.setHeader('etag', asset.etag)
  // A module is fetched with the origin of its page, which is this one.
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  if (matches(request.headers['if-none-match'], asset.etag)) {
    response.writeHead(304).end()
    return
  }
  response.writeHead(200, { 'content-type': asset.type, 'content-length': asset.body.length })
  response.end(asset.body)
}

/** Weak comparison, as RFC 9110 13.1.2 has it for `If-None-Match`. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}
