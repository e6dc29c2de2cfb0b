import { randomInt } from 'node:crypto'
import { MailPeer, type MailPeerOptions, type Submission, sendMail } from '@restante/testkit'
import type { Endpoints } from '../stack/endpoints.ts'
import { peerDomain, peerHost } from '../stack/names.ts'

/** A mail server with a domain of its own, which receives the mail to that domain. */
export interface OutsidePeer {
  readonly domain: string
  readonly server: MailPeer
  /** An address at the peer. */
  address(name?: string): string
  /** Sends a mail from this peer to the system. */
  send(mail: Omit<Submission, 'port'>): ReturnType<typeof sendMail>
  stop(): Promise<void>
}

/** Starts an MX host that the system finds by its domain. */
export async function openPeer(
  endpoints: Endpoints,
  options: Omit<MailPeerOptions, 'host' | 'port'> = {},
): Promise<OutsidePeer> {
  for (let attempt = 0; ; attempt++) {
    const [a, b] = [randomInt(1, 255), randomInt(1, 255)]
    const host = peerHost(a, b)
    const server = new MailPeer({ ...options, host, port: endpoints.mxPort })
    try {
      await server.start()
    } catch (error) {
      if (attempt === 5) throw error
      continue
    }
    const domain = peerDomain(a, b)
    return {
      domain,
      server,
      address: (name = 'human') => `${name}@${domain}`,
      send: (mail) => sendMail({ port: endpoints.smtpPort, localAddress: host, from: `human@${domain}`, ...mail }),
      stop: () => server.stop(),
    }
  }
}
