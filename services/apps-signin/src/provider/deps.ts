import type { IncomingMessage } from 'node:http'
import type { Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Subjects } from '../codes/claims.ts'
import type { OwnerLinks } from '../consents/owner-links.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'

/** What the endpoints of the provider need. */
export interface ProviderOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly gateway: ServiceClient<'apps-signin'>
  readonly keys: SigningKeys
  readonly subjects: Subjects
  readonly links: OwnerLinks
  /** Issuer, and origin of the pages. */
  readonly authBase: string
  /** URL of the REST API. */
  readonly publicUrl: string
  readonly openClients: boolean
  readonly signedApproval: boolean
  /** Address of the client. */
  readonly addressOf: (request: IncomingMessage) => string
  /** Whether clients on the same machine may begin any number of sign-ins; for local runs. */
  readonly exemptLoopback: boolean
}
