import { type DownloadLink, SignedLinks } from '@restante/service/downloads'
import { z } from 'zod'

/** The target of a link: an attachment of a draft. */
const target = z.object({ draft: z.uuid(), file: z.uuid() })

/** Links to attachments of drafts: each gives access to one for an hour, without a key (mail 16). */
export class DraftLinks {
  /** What precedes the token. */
  readonly baseUrl: string
  readonly #links: SignedLinks<z.infer<typeof target>>

  constructor({ publicUrl, secret }: { readonly publicUrl: string; readonly secret: string }) {
    this.baseUrl = `${publicUrl}/v0/draft-files/`
    this.#links = new SignedLinks({ baseUrl: this.baseUrl, secret, purpose: 'draft download', target })
  }

  to(draft: string, file: string): DownloadLink {
    return this.#links.to({ draft, file })
  }

  /** @returns the target of the link; undefined when it is expired, altered or forged. */
  open(token: string): z.infer<typeof target> | undefined {
    return this.#links.open(token)
  }
}
