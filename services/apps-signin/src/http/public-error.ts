import type { ServerResponse } from 'node:http'
import { sendJson } from '@restante/service/http'

/** A refusal by the sign-in origin, as JSON with an OAuth error code: `{error, message}` for the calls of pages. */
export class PublicError extends Error {
  override readonly name: string = 'PublicError'
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
    sendJson(response, this.status, this.body())
  }

  protected body(): object {
    return { error: this.code, message: this.message }
  }
}

/** The same at the token and UserInfo endpoints, in the form of RFC 6749 5.2. */
export class OAuthError extends PublicError {
  override readonly name = 'OAuthError'

  protected override body(): object {
    return { error: this.code, error_description: this.message }
  }
}
