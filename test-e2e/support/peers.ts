import { randomInt } from 'node:crypto'
import { MailPeer, type MailPeerOptions, type Submission, sendMail } from '@restante/testkit'
import { peerDomain, peerHost } from '../stack/names.ts'
import type { Place } from '../stack/place.ts'

/** A mail server with a domain of its own: what is sent to the domain arrives there. */
export interface OutsidePeer {
  readonly domain: string
  readonly server: MailPeer
  /** An address at the peer. */
  address(name?: string): string
  /** Sends a mail to us from this peer. */
  send(mail: Omit<Submission, 'port'>): ReturnType<typeof sendMail>
  stop(): Promise<void>
}

/** Starts a mail exchange that this system finds by its domain. */
export async function openPeer(
  place: Place,
  options: Omit<MailPeerOptions, 'host' | 'port'> = {},
): Promise<OutsidePeer> {
  for (let attempt = 0; ; attempt++) {
    const [a, b] = [randomInt(1, 255), randomInt(1, 255)]
    const host = peerHost(a, b)
    const server = new MailPeer({ ...options, host, port: place.mxPort })
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
      send: (mail) => sendMail({ port: place.smtpPort, localAddress: host, from: `human@${domain}`, ...mail }),
      stop: () => server.stop(),
    }
  }
}
