import { isIP } from 'node:net'
import type { Resolvers } from '../dns/resolvers.ts'
import type { ProbedHost } from './recipient-probe.ts'

/** The addresses of the host that accepts reports. It is of the operator, so any address is allowed. */
export function returnHosts(
  resolvers: Resolvers,
  { host, port }: { readonly host: string; readonly port: number },
): () => Promise<readonly ProbedHost[]> {
  return async () => {
    if (isIP(host) !== 0) return [{ address: host, port }]
    const [four, six] = await Promise.all([
      resolvers.ask({ name: host, type: 'A' }),
      resolvers.ask({ name: host, type: 'AAAA' }),
    ])
    const addresses = [four, six].flatMap((answer) => (answer.kind === 'records' ? answer.records : []))
    return addresses.map((address) => ({ address, port }))
  }
}
