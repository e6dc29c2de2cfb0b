import { type DownloadLink, SignedLinks } from '@restante/service/downloads'
import { z } from 'zod'

/** The target of a link: the raw message, one of its attachments, or the text of that attachment. */
const target = z.object({
  message: z.uuid(),
  attachment: z.uuid().optional(),
  as: z.literal('text').optional(),
})
export type LinkTarget = z.infer<typeof target>

export interface AttachmentLinks extends DownloadLink {
  readonly text_url?: string
}

/** Links to stored mail: each gives access to one file for an hour, without a key (mail 16). */
export class DownloadLinks {
  readonly #links: SignedLinks<LinkTarget>

  constructor(options: { publicUrl: string; secret: string }) {
    const baseUrl = `${options.publicUrl}/v0/files/`
    this.#links = new SignedLinks({ baseUrl, secret: options.secret, purpose: 'download', target })
  }

  raw(messageUid: string): DownloadLink {
    return this.#links.to({ message: messageUid })
  }

  /** @param hasText whether there is a text of the attachment, to which a second link leads for the same hour. */
  attachment(messageUid: string, attachmentId: string, hasText: boolean): AttachmentLinks {
    const file = { message: messageUid, attachment: attachmentId }
    const now = Date.now()
    const link = this.#links.to(file, now)
    return hasText ? { ...link, text_url: this.#links.to({ ...file, as: 'text' }, now).download_url } : link
  }

  /** @returns the target of the link; undefined when it is expired, altered or forged. */
  open(token: string, now?: number): LinkTarget | undefined {
    return this.#links.open(token, now)
  }
}
