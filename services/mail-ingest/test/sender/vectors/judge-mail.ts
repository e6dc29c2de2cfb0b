import { Readable } from 'node:stream'
import { readAuthor } from '@restante/mime'
import type { DnsZone } from '@restante/testkit'
import { DnsCache } from '../../../src/sender/dns/dns-cache.ts'
import { Lookups } from '../../../src/sender/dns/lookups.ts'
import { judgedHeader, startOfBody } from '../../../src/sender/judged-header.ts'
import { judgeMail } from '../../../src/sender/judgement/judge-mail.ts'
import type { Judgement } from '../../../src/sender/judgement/protocol.ts'

export interface VectorMail {
  readonly raw: Buffer
  readonly peer?: string
  readonly helo?: string
  readonly mailFrom?: string
  readonly arcTrustedSealers?: readonly string[]
}

/** The judgement of a mail as the thread of the judge makes it, by the records of a zone. */
export function judgeBy(zone: DnsZone, mail: VectorMail): Promise<Judgement> {
  const { raw, peer = '192.0.2.1', helo = 'mx.sender.test', mailFrom = '', arcTrustedSealers = [] } = mail
  const bodyStart = startOfBody(raw)
  const { text, repeatsField, signed } = judgedHeader(raw.subarray(0, bodyStart))
  const { address: author } = readAuthor(raw)
  const dns = new DnsCache([zone.address])
  const lookups = new Lookups(
    (question) => dns.ask(question),
    async () => {},
  )
  const envelope = { peer, helo, mailFrom, hostname: 'mx.mail.test', arcTrustedSealers }
  const message = Readable.from([Buffer.from(text, 'latin1'), raw.subarray(bodyStart)])
  return judgeMail({ author, header: text, repeatsField, signed, ...envelope }, message, lookups)
}
