import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import { z } from 'zod'

/** How tests reach a running system: its public addresses, its databases and topics. */
export const endpoints = z.object({
  gatewayUrl: z.url(),
  streamUrl: z.url(),
  /** Origin of the pages of sign-in, and issuer. A browser takes it for a secure context because its host is localhost. */
  signInUrl: z.url(),
  /** Default domain of new inboxes. */
  domain: z.string(),
  /** Domain of our return paths. */
  bounceDomain: z.string(),
  smtpPort: z.int(),
  /** Port of every MX host that the system delivers to; peers differ by address. */
  mxPort: z.int(),
  topicPrefix: z.string(),
  databases: z.record(z.enum(STORING_SERVICES), z.url()),
  /** Environment of the gateway, for the operator's command line. */
  operator: z.record(z.string(), z.string()),
  logs: z.string(),
})
export type Endpoints = z.infer<typeof endpoints>
