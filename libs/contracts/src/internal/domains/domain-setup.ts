import { z } from 'zod'
import { RECORD_STATUSES, RECORD_TYPES } from '../../vocabulary/domains.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

/** How a setup at the DNS provider ended, as far as DNS shows it. */
export const setupResult = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('unknown') }).meta({ description: 'The state is altered, used or too old.' }),
  z.object({ outcome: z.literal('deleted') }).meta({ description: 'The domain was deleted since.' }),
  z.object({
    outcome: z.literal('returned'),
    domain: z.string(),
    verified: z.boolean(),
    records: z.array(z.object({ type: z.enum(RECORD_TYPES), name: z.string(), status: z.enum(RECORD_STATUSES) })),
  }),
])
export type SetupResult = z.infer<typeof setupResult>

/** The page that a browser comes back to from the DNS provider (domains 9). */
export const domainSetupOperations = internalGroup({
  /** A state counts once, so a repeated call answers `unknown`. */
  'domains-dns.completeSetup': defineInternal({
    ...INTERNAL,
    id: 'domains-dns.completeSetup',
    path: '/internal/domains/complete-setup',
    service: 'domains-dns',
    callers: ['gateway'],
    summary: 'End the setup of a state, check the records of its domain, and tell which of them were found',
    body: z.object({ state: z.string().max(200) }),
    response: setupResult,
  }),
})
