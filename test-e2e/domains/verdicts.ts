import { promises as dns } from 'node:dns'
import type { ReceivedMail } from '@restante/testkit'
import { authenticate } from 'mailauth'

/** What a receiver that asks these name servers finds of a mail that reached it from loopback: an independent library judges. */
export async function verdictsOf({ raw, mailFrom, helo }: ReceivedMail, nameServers: readonly string[]) {
  const resolver = new dns.Resolver()
  resolver.setServers(nameServers)
  const { spf, dkim, dmarc } = await authenticate(raw, {
    ip: '127.0.0.1',
    helo,
    sender: mailFrom,
    mta: 'mx.people.test',
    resolver: (name, type) => resolve(resolver, name, type),
  })
  if (!spf || !dmarc) throw new Error('the mail was not judged')
  return {
    spf: spf.status.result,
    dkim: dkim.results.map(({ signingDomain, status }) => [signingDomain, status.result]),
    dmarc: dmarc.status.result,
    policy: dmarc.policy,
  }
}

/** mailauth declares all answers as texts, but expects those of MX as objects, as `node:dns` returns them. */
function resolve(resolver: dns.Resolver, name: string, type: string): Promise<string[][] | string[]>
function resolve(resolver: dns.Resolver, name: string, type: string): Promise<unknown> {
  return resolver.resolve(name, type)
}
