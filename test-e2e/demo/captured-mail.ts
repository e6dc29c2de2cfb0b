import { waitFor } from '@restante/testkit'
import { z } from 'zod'

/** For mail that it loads from disk at its start, MailDev knows the text of the header, if any, and no recipients. */
const recipients = z.union([z.array(z.object({ address: z.string() })), z.string().transform(() => [])]).default([])

const capturedMail = z.object({
  subject: z.string().default(''),
  text: z.string().default(''),
  headers: z.record(z.string(), z.unknown()),
  envelope: z.object({ to: recipients }),
})
export type CapturedMail = z.infer<typeof capturedMail>

/** Mail that left the stack, as MailDev shows it. */
export class CapturedMails {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  /** Resolves to the first matching mail to an address since the last start, as soon as it arrives. */
  next(address: string, matches: (mail: CapturedMail) => boolean): Promise<CapturedMail> {
    return waitFor(
      async () => {
        const mails = z.array(capturedMail).parse(await (await fetch(`${this.url}/email`)).json())
        return mails.find((mail) => mail.envelope.to.some((to) => to.address === address) && matches(mail))
      },
      { what: `a mail to ${address} at ${this.url}`, interval: 50 },
    )
  }
}
