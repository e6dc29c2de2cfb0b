import { createHash, randomBytes } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** A link of connect, as it is stored. */
export interface Ticket {
  readonly app_id: string
  readonly api_key_id: string
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
  readonly expires_at: Date
}

export interface NewTicket {
  readonly appId: string
  readonly apiKeyId: string
  readonly organizationId: string
  readonly podId: string
  readonly inboxUid: string
  readonly address: string
  readonly credentialId: string
  readonly acceptDisclosure: boolean
  readonly expiresAt: Date
}

const BYTES = 32
const TICKET = /^[\w-]{43}$/
const SECONDS = LIMITS.app.link / 1_000

const EXPIRY = sql<{ at: Date }, [seconds: number]>(
  `select date_trunc('milliseconds', now()) + $1 * interval '1 second' as at`,
)

/** When a link that is created now ends, by the database's clock. */
export async function linkExpiry(on: Queryable): Promise<Date> {
  const [expiry] = await on.query(EXPIRY, SECONDS)
  if (expiry === undefined) throw new Error('the database did not tell the time')
  return expiry.at
}

const INSERT = sql<
  never,
  [
    hash: Uint8Array,
    appId: string,
    apiKeyId: string,
    organizationId: string,
    podId: string,
    inboxUid: string,
    address: string,
    credentialId: string,
    acceptDisclosure: boolean,
    expiresAt: Date,
  ]
>(
  `insert into tickets (hash, app_id, api_key_id, organization_id, pod_id, inbox_uid, address, credential_id,
     accept_disclosure, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
)

/** A new ticket: 32 random bytes in base64url. */
export function newTicket(): string {
  return randomBytes(BYTES).toString('base64url')
}

/** Stores a ticket under its hash: who reads the table cannot use it. */
export async function insertTicket(tx: Tx, ticket: string, given: NewTicket): Promise<void> {
  const { appId, apiKeyId, organizationId, podId, inboxUid, address, credentialId, acceptDisclosure } = given
  const inbox = [organizationId, podId, inboxUid, address] as const
  await tx.query(INSERT, hashOf(ticket), appId, apiKeyId, ...inbox, credentialId, acceptDisclosure, given.expiresAt)
}

const LIVE = 'hash = $1 and consumed_at is null and expires_at > now()'
const COLUMNS = 'app_id, api_key_id, organization_id, pod_id, inbox_uid, address, expires_at'

const FIND = sql<Ticket, [hash: Uint8Array]>(`select ${COLUMNS} from tickets where ${LIVE}`)

/** What a link stands for; undefined when it is unknown, used or expired. */
export async function findTicket(on: Queryable, ticket: unknown): Promise<Ticket | undefined> {
  if (!isTicket(ticket)) return undefined
  const [found] = await on.query(FIND, hashOf(ticket))
  return found
}

const CONSUME = sql<Ticket, [hash: Uint8Array]>(
  `update tickets set consumed_at = now() where ${LIVE} returning ${COLUMNS}`,
)

/** Uses a ticket, which works once, in whichever process. @returns undefined when it is unknown, used or expired. */
export async function consumeTicket(tx: Tx, ticket: unknown): Promise<Ticket | undefined> {
  if (!isTicket(ticket)) return undefined
  const [consumed] = await tx.query(CONSUME, hashOf(ticket))
  return consumed
}

function isTicket(text: unknown): text is string {
  return typeof text === 'string' && TICKET.test(text)
}

function hashOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest()
}
