/** A complete response. `body` is the JSON document, or `{}` without one. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

export interface RequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Plain requests with or without a key, for what the public client cannot send or does not show. */
export class Api {
  readonly #url: string
  readonly #key: string | undefined

  constructor(url: string, key?: string) {
    this.#url = url
    this.#key = key
  }

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.request('GET', path, options)
  }

  post(path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.request('POST', path, { body, ...options })
  }

  patch(path: string, body?: unknown): Promise<Answer> {
    return this.request('PATCH', path, { body })
  }

  delete(path: string): Promise<Answer> {
    return this.request('DELETE', path)
  }

  /** @param path from `/v0` on, encoded. A string as body is sent as it is. */
  async request(method: string, path: string, { body, headers = {}, signal }: RequestOptions = {}): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      ...(signal && { signal }),
      headers: {
        ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return answerIn(response)
  }
}

export async function answerIn(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? document(text) : {} }
}

function document(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
