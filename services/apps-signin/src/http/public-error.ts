import type { ServerResponse } from 'node:http'
import { sendJson } from '@restante/service/http'

/**
 * A refusal by the sign-in origin, as JSON with an OAuth error code (RFC 6749 5.2). The token and UserInfo endpoints use
 * `error_description`, as that RFC has it; the calls of pages read the same text as `message`.
 */
export class PublicError extends Error {
  override readonly name = 'PublicError'
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }

  send(response: ServerResponse): void {
    for (const [name, value] of Object.entries(this.headers)) response.setHeader(name, value)
    sendJson(response, this.status, { error: this.code, error_description: this.message, message: this.message })
  }
}
