import { DnsZone, KnotServer, UnboundResolver } from '@restante/testkit'
import { outsideNames } from '../stack/names.ts'
import { publishZoneFile } from './zone-file.ts'

/** Hosts of the installation, as the local stack names them. */
const INSTALLATION = `
mx.restante.test. IN A 127.0.0.1
track.restante.test. IN A 127.0.0.1
spf.restante.test. IN TXT "v=spf1 ip4:127.0.0.0/8 -all"`

/** The DNS of a test, in which the owner of a domain publishes. */
export interface Names {
  /** The form of `DNS_SERVERS`. */
  readonly servers: string
  /** Publishes the lines of a zone file, and the names of a mail peer. */
  publish(zoneFile: string, peer: string): Promise<void>
  stop(): Promise<void>
}

/** One small server that answers at once. */
export async function zoneInMemory(): Promise<Names> {
  const zone = await new DnsZone().rule(outsideNames).start()
  publishZoneFile(zone, INSTALLATION.trim())
  return {
    servers: zone.address,
    publish: async (zoneFile) => publishZoneFile(zone, zoneFile),
    stop: () => zone.stop(),
  }
}

/** Knot DNS, and two Unbound resolvers in front of it that keep what they were told, also that there is no such name. */
export async function knotBehindUnbound(): Promise<Names> {
  const knot = await new KnotServer().start(INSTALLATION)
  const resolvers = [await new UnboundResolver().start(knot), await new UnboundResolver().start(knot)]
  return {
    servers: resolvers.map(({ address }) => address).join(','),
    publish: (zoneFile, peer) => knot.publish([INSTALLATION, linesOfPeer(peer), zoneFile].join('\n')),
    async stop() {
      for (const each of [...resolvers, knot]) await each.stop()
    },
  }
}

/** What `outsideNames` says of a peer, as lines of a zone file. */
function linesOfPeer(peer: string): string {
  const lines = [peer, `mx.${peer}`].flatMap((name) =>
    (outsideNames(name) ?? []).flatMap((record) => {
      if (record.type === 'MX') return [`${name}. IN MX ${record.priority} ${record.exchange}.`]
      if (record.type === 'TXT') return [`${name}. IN TXT "${record.data}"`]
      if (record.type === 'A') return [`${name}. IN A ${record.address}`]
      throw new Error(`a peer has no ${record.type}`)
    }),
  )
  return lines.join('\n')
}
