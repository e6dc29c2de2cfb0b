import { type Exchange, hasBody, readBody } from '@restante/service/http'
import { PublicError } from './public-error.ts'

const BODY = { bytes: 16_384, answer: 'infrastructure' } as const
const MEDIA_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?$/i

/** The parameters of a request of OAuth, in a query or a form (RFC 6749 3.1 and 3.2). */
export class Parameters {
  readonly #values: ReadonlyMap<string, readonly string[]>

  constructor(text: string) {
    const values = new Map<string, string[]>()
    for (const [name, value] of new URLSearchParams(text)) {
      const known = values.get(name)
      if (known === undefined) values.set(name, [value])
      else known.push(value)
    }
    this.#values = values
  }

  /** The value of a parameter. One without a value counts as absent, and so does one that is sent twice. */
  get(name: string): string | undefined {
    const values = this.#values.get(name) ?? []
    return values.length === 1 && values[0] !== '' ? values[0] : undefined
  }

  /** Whether a parameter is sent more than once, which is never allowed: two readers could take different ones. */
  isRepeated(name: string): boolean {
    return (this.#values.get(name)?.length ?? 0) > 1
  }

  /** Names of the parameters that are sent more than once. */
  get repeated(): readonly string[] {
    return [...this.#values.keys()].filter((name) => this.isRepeated(name))
  }
}

/**
 * Reads a form.
 * @throws PublicError 400 for any other body.
 */
export async function readForm(exchange: Exchange): Promise<Parameters> {
  const { request, response } = exchange
  if (!MEDIA_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new PublicError(400, 'invalid_request', 'Send Content-Type: application/x-www-form-urlencoded')
  }
  const body = hasBody(request) ? await readBody(request, response, BODY, () => {}) : Buffer.alloc(0)
  return new Parameters(body.toString('utf8'))
}
