import type { IncomingMessage, ServerResponse } from 'node:http'

const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match'

/**
 * Allows pages of any origin to read responses. `*` is safe because keys are in a header that no browser sends by
 * itself; there is no credentials mode (identity 1.2).
 */
export function openToBrowsers(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-expose-headers', 'Retry-After, X-Request-Id, ETag')
}

/** Answers a preflight request, for any path and without authentication. All requested headers are allowed. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['access-control-request-headers']
  response.statusCode = 204
  response.setHeader('access-control-allow-methods', 'GET, POST, PATCH, DELETE, OPTIONS')
  response.setHeader('access-control-allow-headers', asked ?? ALLOWED_HEADERS)
  response.setHeader('access-control-max-age', '86400')
  response.setHeader('vary', 'Access-Control-Request-Headers')
  response.end()
}
