import type { RequestOf } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeyedMutex } from '@restante/service/concurrency'
import { sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'
import type { Actor } from '../audit/actor.ts'
import { issueCredential } from '../credentials/insert.ts'
import type { Secrets } from '../credentials/secrets.ts'
import { revokeCredentials } from '../credentials/store.ts'
import type { Credential, Inbox, Organization } from '../generated/prisma/client.ts'
import { type AddressRules, createInbox } from '../inboxes/create.ts'
import { createOrganization, lockOrganization } from '../organizations/store.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { GatewayTimers } from '../storage/timers.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { ensureCode, holdHuman, mailboxOf, mailCodeOfKey } from './codes.ts'
import { refuseDomain, type SignUpSettings } from './settings.ts'
import {
  type EndSubscriptions,
  finishTakeOver,
  requireSubscriptionOwners,
  type TakeOver,
  takeOver,
} from './take-over.ts'

export interface AgentOptions {
  readonly db: Db
  readonly events: TenancyEvents
  readonly secrets: Secrets
  readonly addresses: AddressRules
  readonly timers: GatewayTimers
  readonly turns: KeyedMutex
  /**
   * Serializes requests about one human, with a long wait, because many concurrent sign-ups all succeed, each with a
   * key that the next one ends.
   */
  readonly humanTurns: KeyedMutex
  readonly settings: SignUpSettings
  /** Whether any mail was ever accepted for the organization; asks the owner of the mailbox. */
  readonly hasReceivedMail: (organizationId: string) => Promise<boolean>
  /** Whether a code mail was refused, or came back; asks the owner of sending. */
  readonly hasMailFailed: (mailId: string) => Promise<boolean>
  readonly endSubscriptions: EndSubscriptions
}

type SignUpBody = RequestOf<'agent.signUp'>['body']

interface SignedUp {
  readonly organization_id: string
  readonly inbox_id: string
  readonly api_key: string
}

/** Outcome of a sign-up, and whether it took an organization over. */
interface Outcome {
  readonly answer: SignedUp
  readonly takeOver?: TakeOver
}

/** Signs an agent up: organization, pod, inbox, key and code exist together or not at all (identity 5.1). */
export async function signUp(deps: AgentOptions, body: SignUpBody, actor: Actor, log: Logger): Promise<SignedUp> {
  const { settings, addresses } = deps
  const human = body.human_email
  if (human === undefined) return deps.db.transaction((tx) => signUpNew(tx, deps, body, actor))
  refuseDomain(human, settings.refusedDomains, addresses.sharedDomains)
  const { answer, takeOver: done } = await deps.humanTurns.run(mailboxOf(human), () =>
    signUpWithHuman(deps, body, human, actor, log),
  )
  if (done !== undefined) await finishTakeOver(deps.endSubscriptions, done)
  return answer
}

async function signUpWithHuman(
  deps: AgentOptions,
  body: SignUpBody,
  human: string,
  actor: Actor,
  log: Logger,
): Promise<Outcome> {
  const { db } = deps
  for (let attempt = 0; attempt < 3; attempt++) {
    const known = await db.orm.organization.findUnique({ where: { humanEmail: human } })
    const received = known !== null && (await mayOpenMail(deps, known, log))
    const done = await db.transaction(async (tx) => {
      await holdHuman(tx, human)
      const orm = await tx.orm()
      const found = await orm.organization.findUnique({ where: { humanEmail: human }, select: { id: true } })
      // The answers about mail must concern the organization that is decided on; otherwise they are requested again.
      if (found?.id !== known?.id) return undefined
      if (found === null) return { answer: await signUpNew(tx, deps, body, actor) }
      return signUpAgain(tx, deps, { organizationId: found.id, human, received }, body, actor)
    })
    if (done !== undefined) return done
  }
  throw new ApiError('race_condition')
}

/**
 * Whether a new key of a known organization could read mail, and so must be confirmed first. Otherwise it takes the
 * organization over.
 * @throws UpstreamError when it would, and the owner of webhooks or of streams is down.
 */
async function mayOpenMail(deps: AgentOptions, known: Organization, log: Logger): Promise<boolean> {
  if (known.authenticationType !== 'agent_unverified') return true
  const inForce = { organizationId: known.id, takeOvers: known.takeOvers }
  const [received, owners] = await Promise.allSettled([
    hasReceivedMail(deps, known, log),
    requireSubscriptionOwners(deps.endSubscriptions, inForce),
  ])
  if (received.status === 'rejected') throw received.reason
  if (!received.value && owners.status === 'rejected') throw owners.reason
  return received.value
}

/**
 * When the mailbox service cannot be asked, mail is assumed: an address alone must not give access to mail that may
 * have arrived.
 */
async function hasReceivedMail(deps: AgentOptions, known: Organization, log: Logger): Promise<boolean> {
  try {
    return await deps.hasReceivedMail(known.id)
  } catch (error) {
    log.warn({ err: error, organization_id: known.id }, 'received mail could not be checked, assuming there is some')
    return true
  }
}

async function signUpNew(tx: Tx, deps: AgentOptions, body: SignUpBody, actor: Actor): Promise<SignedUp> {
  const now = new Date()
  const human = body.human_email
  const organization = await createOrganization(
    tx,
    deps.events,
    {
      authenticationType: 'agent_unverified',
      humanEmail: human,
      signUpSource: body.source,
      signUpReferrer: body.referrer,
      inboxLimit: LIMITS.signUp.inboxLimit,
      domainLimit: LIMITS.signUp.domainLimit,
    },
    actor,
    now,
  )
  const inbox = await createInbox(tx, deps, organization, firstInbox(deps, organization, body))
  const { secret } = await issueSignUpKey(tx, deps, organization.id, false, actor, now)
  if (human !== undefined) {
    const request = { organizationId: organization.id, humanEmail: human, mailAgain: false }
    await ensureCode(tx, deps.timers, request, now)
  }
  return { organization_id: organization.id, inbox_id: inbox.address, api_key: secret }
}

interface KnownHuman {
  readonly organizationId: string
  readonly human: string
  /** Whether the organization has received mail. */
  readonly received: boolean
}

/**
 * The human is known: a new key, which takes the organization over at once or, where it could read mail, once its code
 * is entered.
 * @returns undefined when the organization no longer belongs to this human: it was deleted, or given another.
 */
async function signUpAgain(
  tx: Tx,
  deps: AgentOptions,
  { organizationId, human, received }: KnownHuman,
  body: SignUpBody,
  actor: Actor,
): Promise<Outcome | undefined> {
  const organization = await lockOrganization(tx, organizationId)
  if (organization?.humanEmail !== human) return undefined
  const verified = organization.authenticationType === 'agent_verified'
  if (organization.authenticationType === null || (verified && deps.settings.verifiedHuman === 'refuse')) {
    throw new ApiError('already_exists', {
      message: 'An organization of this human already exists',
      fix: 'Use a key of that organization, or another human_email.',
    })
  }
  const now = new Date()
  const provisional = verified || received
  const inbox = await inboxOf(tx, deps, organization, body, provisional)
  if (provisional) await makeRoom(tx, deps, organizationId, actor, now)
  const { row, secret } = await issueSignUpKey(tx, deps, organizationId, provisional, actor, now)
  const answer = { organization_id: organizationId, inbox_id: inbox.address, api_key: secret }
  if (provisional) {
    await mailCodeOfKey(tx, deps.timers, { organizationId, humanEmail: human, credentialId: row.id }, now)
    return { answer }
  }
  const successor = { credentialId: row.id, verified: false }
  const { takeOver: done } = await takeOver(tx, deps, organization, successor, actor, now)
  await ensureCode(tx, deps.timers, { organizationId, humanEmail: human, mailAgain: false }, now)
  return { answer, takeOver: done }
}

/** The organization's first inbox. A deleted one is created again, but not for a key that is not confirmed yet. */
async function inboxOf(
  tx: Tx,
  deps: AgentOptions,
  organization: Organization,
  body: SignUpBody,
  provisional: boolean,
): Promise<Inbox> {
  const orm = await tx.orm()
  const first = await orm.inbox.findFirst({
    where: { organizationId: organization.id, deletedAt: null },
    orderBy: [{ createdAt: 'asc' }, { uid: 'asc' }],
  })
  if (first !== null) return first
  if (!provisional) return createInbox(tx, deps, organization, firstInbox(deps, organization, body))
  throw new ApiError('already_exists', {
    message: 'An organization of this human already exists, without an inbox',
    fix: 'Create an inbox with a key of that organization.',
  })
}

function issueSignUpKey(
  tx: Tx,
  deps: AgentOptions,
  organizationId: string,
  provisional: boolean,
  actor: Actor,
  now: Date,
): Promise<{ row: Credential; secret: string }> {
  const rights = { permissions: undefined, appConnect: true }
  const key = { scope: { organizationId }, name: LIMITS.name.default, rights, signUp: true, provisional }
  return issueCredential(tx, deps, key, actor, now)
}

const BEYOND = sql<{ id: string }, [organizationId: string, now: string, kept: number]>(`
select k.id from credentials k
  left join verification_codes c on c.credential_id = k.id and c.expires_at > $2::timestamptz
 where k.organization_id = $1 and k.provisional and c.id is null
 order by k.created_at, k.id
 limit greatest(0, (select count(*) from credentials where organization_id = $1 and provisional) - $3)`)

/**
 * Makes room for one more provisional key: the oldest are deleted, except those whose code was mailed and is valid.
 * Sign-ups of third parties can therefore not displace the key that the human is about to confirm (identity 5.2).
 */
async function makeRoom(tx: Tx, deps: AgentOptions, organizationId: string, actor: Actor, now: Date): Promise<void> {
  const beyond = await tx.query(BEYOND, organizationId, now.toISOString(), LIMITS.signUp.provisionalKeys - 1)
  if (beyond.length === 0) return
  const ids = beyond.map(({ id }) => id)
  await revokeCredentials(tx, deps.events, { id: { in: ids } }, { actor, now, because: 'provisional key limit' })
}

function firstInbox({ addresses }: AgentOptions, { id: podId }: Organization, { username }: SignUpBody) {
  return { podId, username, domain: { name: addresses.defaultDomain, own: false } }
}
