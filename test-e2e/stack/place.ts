import { SERVICES } from '@restante/contracts'
import { z } from 'zod'

/** All that tests know of a running system: how it is reached from outside, and where its engines keep its state. */
export const place = z.object({
  gatewayUrl: z.url(),
  streamUrl: z.url(),
  /** Default domain of new inboxes. */
  domain: z.string(),
  /** Domain of our return paths. */
  bounceDomain: z.string(),
  smtpPort: z.int(),
  /** Port of every mail exchange that the system delivers to; peers differ by address. */
  mxPort: z.int(),
  topicPrefix: z.string(),
  databases: z.record(z.enum(SERVICES), z.url()),
  /** Environment of the gateway, which the operator's command line shares. */
  operator: z.record(z.string(), z.string()),
  logs: z.string(),
})
export type Place = z.infer<typeof place>
