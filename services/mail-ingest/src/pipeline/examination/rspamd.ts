import { withTimeLimit } from '@restante/service/concurrency'
import { z } from 'zod'
import type { LeasedMail } from '../queue/queue.ts'

/** The used part of the response of `/checkv2`. */
const answer = z.object({
  score: z.number(),
  action: z.string(),
  symbols: z.record(z.string(), z.unknown()).default({}),
})

const SPAM_ACTIONS = new Set(['reject', 'add header', 'rewrite subject', 'quarantine'])
/**
 * Symbols of rspamd's antivirus module for a virus: `CLAM_VIRUS` and its like. It appends `_FAIL`, `_ENCRYPTED` or `_MACRO`
 * where it has found none; and lists of links have symbols such as `DBL_MALWARE`, which are about words of a mail.
 */
const VIRUS_SYMBOL = /(?:^|_)VIRUS$/
const TIMEOUT_MS = 5_000

export interface RspamdVerdict {
  readonly spam: boolean
  readonly virus: boolean
  readonly score: number
}

/**
 * Asks rspamd about a mail.
 * @throws Error when it does not answer in 5 s, or not in the expected form.
 */
export async function askRspamd(url: string, mail: LeasedMail, raw: Buffer): Promise<RspamdVerdict> {
  const { envelope } = mail
  const { score, action, symbols } = await withTimeLimit(TIMEOUT_MS, [], async (signal) => {
    const response = await fetch(new URL('/checkv2', url), {
      method: 'POST',
      headers: {
        from: encodeURIComponent(envelope.mail_from).replaceAll('%40', '@'),
        rcpt: encodeURIComponent(mail.recipient).replaceAll('%40', '@'),
        'queue-id': mail.id,
        ...(envelope.via === 'smtp' && { ip: envelope.peer, helo: encodeURIComponent(envelope.helo) }),
      },
      body: raw,
      signal,
    })
    if (!response.ok) throw new Error(`rspamd answered ${response.status}`)
    return answer.parse(await response.json())
  })
  const virus = action === 'reject' && Object.keys(symbols).some((name) => VIRUS_SYMBOL.test(name))
  return { spam: SPAM_ACTIONS.has(action), virus, score }
}
