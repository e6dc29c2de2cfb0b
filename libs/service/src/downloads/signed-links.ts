import { createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import { z } from 'zod'

/** A link as shown in responses. */
export interface DownloadLink {
  readonly download_url: string
  readonly expires_at: string
}

export interface SignedLinksOptions<Target extends object> {
  /** What precedes the token. */
  readonly baseUrl: string
  readonly secret: string
  /** Separates links of different kinds that are signed with one secret. */
  readonly purpose: string
  readonly target: z.ZodType<Target>
}

const expiry = z.object({
  /** Unix time in seconds. */
  expires: z.int(),
})

/**
 * Links that give access to one target for an hour, without a key: `<target>.<HMAC>`, both base64url, so that a link
 * cannot be altered or forged (mail 16).
 */
export class SignedLinks<Target extends object> {
  readonly #options: SignedLinksOptions<Target>

  constructor(options: SignedLinksOptions<Target>) {
    this.#options = options
  }

  /** @param now links that are made with the same value expire together. */
  to(target: Target, now = Date.now()): DownloadLink {
    const expires = Math.floor((now + LIMITS.message.downloadLink) / 1_000)
    const encoded = Buffer.from(JSON.stringify({ ...target, expires })).toString('base64url')
    return {
      download_url: `${this.#options.baseUrl}${encoded}.${this.#mac(encoded)}`,
      expires_at: new Date(expires * 1_000).toISOString(),
    }
  }

  /** @returns what the link leads to; undefined when it is expired, altered or forged. */
  open(token: string, now = Date.now()): Target | undefined {
    const [encoded = '', mac = '', ...rest] = token.split('.')
    // Compared as text: base64url has several spellings of the same bytes, and only one is accepted.
    const given = Buffer.from(mac)
    const expected = Buffer.from(this.#mac(encoded))
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    const claims: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString())
    const { data: until } = expiry.safeParse(claims)
    const { data: target } = this.#options.target.safeParse(claims)
    return until && until.expires * 1_000 > now ? target : undefined
  }

  #mac(encoded: string): string {
    const { secret, purpose } = this.#options
    return createHmac('sha256', secret).update(`${purpose} ${encoded}`).digest('base64url')
  }
}
