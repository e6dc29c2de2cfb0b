import { isIP } from 'node:net'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

const DEFAULT_PORT = 25
const PROBE = /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/

/** A mail host to probe: its name or address, and port. */
export interface ProbeTarget {
  readonly host: string
  readonly port: number
}

const probe = env.string().transform((text, context): ProbeTarget | 'off' => {
  if (text === 'off') return 'off'
  const [, bracketed, plain, port] = PROBE.exec(text) ?? []
  const host = bracketed ?? plain
  if (host !== undefined) return { host: host.toLowerCase(), port: port === undefined ? DEFAULT_PORT : Number(port) }
  context.addIssue({ code: 'custom', message: 'must be a host such as mx.example.com or 127.0.0.1:2525, or off' })
  return z.NEVER
})

/** How the records of custom domains, and sending from them, are checked. */
export const checkVariables = {
  variables: z.object({
    CHECK_QUERIES_PER_SECOND: env
      .integer(50, 100_000, 5)
      .describe('Maximum rate of DNS queries of scheduled checks of domains, of all processes together'),
    OUTBOUND_ADDRESSES: env
      .list()
      .pipe(z.array(z.string().refine((address) => isIP(address) !== 0, 'must hold IP addresses')))
      .describe(
        'IP addresses that mail leaves from: SPF of a custom domain must pass for each; without any, its record decides',
      ),
    RETURN_PROBE: probe
      .optional()
      .describe('Mail host that must accept the return path of a custom domain, or off; default: RETURN_HOST, port 25'),
  }),
  configure: (given: {
    CHECK_QUERIES_PER_SECOND: number
    OUTBOUND_ADDRESSES: string[]
    RETURN_PROBE?: ProbeTarget | 'off' | undefined
  }) => ({
    checkQueriesPerSecond: given.CHECK_QUERIES_PER_SECOND,
    outboundAddresses: given.OUTBOUND_ADDRESSES,
    returnProbe: given.RETURN_PROBE,
  }),
}
