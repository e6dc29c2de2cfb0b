import { createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import { z } from 'zod'

/** The target of a link: the raw message, one of its attachments, or the text of that attachment. */
const claims = z.object({
  message: z.uuid(),
  attachment: z.uuid().optional(),
  as: z.literal('text').optional(),
  /** Unix time in seconds. */
  expires: z.int(),
})
export type LinkClaims = z.infer<typeof claims>

/** A link as shown in responses. */
export interface DownloadLink {
  readonly download_url: string
  readonly expires_at: string
}

export interface AttachmentLinks extends DownloadLink {
  readonly text_url?: string
}

/**
 * Links that give access to one file for an hour, without a key: `<claims>.<HMAC>`, both base64url, so that a link
 * cannot be altered or forged (mail 16).
 */
export class DownloadLinks {
  readonly #baseUrl: string
  readonly #secret: string

  constructor(options: { publicUrl: string; secret: string }) {
    this.#baseUrl = `${options.publicUrl}/v0/files/`
    this.#secret = options.secret
  }

  raw(messageUid: string): DownloadLink {
    return this.#link({ message: messageUid })
  }

  /** @param hasText whether there is a text of the attachment, to which a second link leads for the same hour. */
  attachment(messageUid: string, attachmentId: string, hasText: boolean): AttachmentLinks {
    const target = { message: messageUid, attachment: attachmentId }
    const link = this.#link(target)
    return hasText ? { ...link, text_url: this.#link({ ...target, as: 'text' }).download_url } : link
  }

  /** @returns the target of the link; undefined when it is expired, altered or forged. */
  open(token: string, now = Date.now()): LinkClaims | undefined {
    const [encoded = '', mac = '', ...rest] = token.split('.')
    // Compared as text: base64url has several spellings of the same bytes, and only one is accepted.
    const given = Buffer.from(mac)
    const expected = Buffer.from(this.#mac(encoded))
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    const { data } = claims.safeParse(JSON.parse(Buffer.from(encoded, 'base64url').toString()))
    return data && data.expires * 1_000 > now ? data : undefined
  }

  #link(target: Omit<LinkClaims, 'expires'>): DownloadLink {
    const expires = Math.floor((Date.now() + LIMITS.message.downloadLink) / 1_000)
    const encoded = Buffer.from(JSON.stringify({ ...target, expires })).toString('base64url')
    const token = `${encoded}.${this.#mac(encoded)}`
    return { download_url: this.#baseUrl + token, expires_at: new Date(expires * 1_000).toISOString() }
  }

  #mac(encoded: string): string {
    return createHmac('sha256', this.#secret).update(`download ${encoded}`).digest('base64url')
  }
}
