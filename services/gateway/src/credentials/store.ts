import type { Caller } from '@restante/contracts/access'
import type { PublicJwk } from '@restante/contracts/schemas'
import { CLIENT_ID, isUuid, LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { KeysetPage } from '@restante/service/http'
import type { ScopeFilter } from '@restante/service/identity'
import type { Actor } from '../audit/actor.ts'
import { type AuditCause, credentialFacts, difference, recordAudit } from '../audit/log.ts'
import type { Credential, Inbox, Prisma } from '../generated/prisma/client.ts'
import type { Rights } from '../identity/rights.ts'
import type { Db, Orm, Tx } from '../storage/database.ts'
import { behind } from '../storage/keyset-condition.ts'
import { credentialChanged, credentialDeleted, type TenancyEvents } from '../tenancy/events.ts'
import { storedPermissions } from './insert.ts'

/** A key together with the address that an inbox-tier key is bound to. */
export type BoundCredential = Credential & { readonly inbox: Pick<Inbox, 'address'> | null }

// In a fixed order, so that two transactions that end the same keys cannot deadlock.
const LOCK = sql<{ id: string }, [ids: string[]]>(
  'select id from credentials where id = any($1::uuid[]) order by id for update',
)

/** A public key of an organization by its alias, wherever in the organization it is. */
export async function findByClientId(
  tx: Tx,
  organizationId: string,
  clientId: string,
): Promise<BoundCredential | undefined> {
  const orm = await tx.orm()
  const row = await orm.credential.findUnique({
    where: { organizationId_clientId: { organizationId, clientId } },
    include: { inbox: { select: { address: true } } },
  })
  return row ?? undefined
}

export interface CredentialChange {
  readonly name?: string | undefined
  readonly rights?: Rights
  readonly provisional?: boolean
  /** Makes a pending sign-in key active. */
  readonly proven?: { readonly jwk: PublicJwk; readonly fingerprint: string; readonly expiresAt: Date }
}

/** Changes a locked key, and publishes the change. @param before as it was read under the lock. */
export async function changeCredential(
  tx: Tx,
  events: TenancyEvents,
  before: Credential,
  { name, rights, provisional, proven }: CredentialChange,
  actor: Actor,
): Promise<BoundCredential> {
  const orm = await tx.orm()
  const changed = await orm.credential.update({
    where: { id: before.id },
    data: {
      ...(name === undefined ? {} : { name }),
      ...(provisional === undefined ? {} : { provisional }),
      ...(rights === undefined ? {} : { permissions: storedPermissions(rights), appConnect: rights.appConnect }),
      ...(proven === undefined ? {} : provenColumns(proven)),
      version: { increment: 1 },
      updatedAt: new Date(),
    },
    include: { inbox: { select: { address: true } } },
  })
  await events.record(tx, credentialChanged(changed))
  await recordAudit(tx, actor, changed.updatedAt, {
    action: 'credential.changed',
    organizationId: changed.organizationId,
    credential: changed,
    details: difference(credentialFacts(before), credentialFacts(changed)),
  })
  return changed
}

function provenColumns({ jwk, fingerprint, expiresAt }: NonNullable<CredentialChange['proven']>) {
  return { signInStatus: 'active', signInKey: { ...jwk }, signInFingerprint: fingerprint, expiresAt }
}

/** How keys end, for the audit log. */
export interface Revocation {
  readonly actor: Actor
  readonly now: Date
  /** Default `credential.revoked`. */
  readonly action?: 'credential.revoked' | 'credential.rotated' | 'credential.expired'
  /** The cause, when the keys themselves were not named. */
  readonly because?: AuditCause | undefined
}

/**
 * Revokes keys permanently: nothing authenticates with them after the commit, apart from look-ups cached for a second.
 */
export async function revokeCredentials(
  tx: Tx,
  events: TenancyEvents,
  which: Prisma.CredentialWhereInput,
  { actor, now, action = 'credential.revoked', because }: Revocation,
): Promise<number> {
  const orm = await tx.orm()
  const found = await orm.credential.findMany({ where: which, select: { id: true } })
  if (found.length === 0) return 0
  const ids = found.map((row) => row.id)
  await tx.query(LOCK, ids)
  // Read again under the lock: the deletion's version must be above that of every change made in the meantime.
  const rows = await orm.credential.findMany({ where: { id: { in: ids } } })
  await orm.credential.deleteMany({ where: { id: { in: ids } } })
  await events.record(tx, ...rows.map((row) => credentialDeleted(row, now)))
  const details = because === undefined ? {} : { because }
  const ended = rows.map((row) => ({ action, organizationId: row.organizationId, credential: row, details }))
  await recordAudit(tx, actor, now, ...ended)
  return rows.length
}

/**
 * A key within a scope, by its id, else a public key by its client_id; tiers nest, so a pod's scope holds the keys of its
 * inboxes (identity 3.1).
 */
export async function findCredential(
  db: Pick<Db, 'orm'>,
  scope: ScopeFilter,
  reference: string,
): Promise<BoundCredential | undefined> {
  return findWithin(db.orm, scope, reference)
}

/** The same, locked until the end of the transaction. */
export async function lockCredential(
  tx: Tx,
  scope: ScopeFilter,
  reference: string,
): Promise<BoundCredential | undefined> {
  const orm = await tx.orm()
  const found = await findWithin(orm, scope, reference)
  if (found === undefined) return undefined
  await tx.query(LOCK, [found.id])
  // The value from before the lock may be outdated; the alias may belong to another key by now.
  return findWithin(orm, scope, found.id)
}

async function findWithin(
  orm: Pick<Orm, 'credential'>,
  scope: ScopeFilter,
  reference: string,
): Promise<BoundCredential | undefined> {
  const include = { inbox: { select: { address: true } } }
  const byId = isUuid(reference)
    ? await orm.credential.findFirst({ where: { id: reference, ...shown(scope) }, include })
    : null
  if (byId !== null) return byId
  // Nothing else can be an alias, and PostgreSQL refuses some texts.
  if (!CLIENT_ID.test(reference)) return undefined
  const byAlias = await orm.credential.findFirst({ where: { clientId: reference, ...shown(scope) }, include })
  return byAlias ?? undefined
}

/**
 * The credential of a request, as it is now. What it passes on must not be based on a look-up of a moment ago, nor on
 * its rights before the request waited for a lock: revoked rights would live on in other keys.
 * @throws ApiError 401 when it has been revoked in the meantime
 */
export async function findCaller(tx: Tx, { organization_id: organizationId, credential }: Caller): Promise<Credential> {
  const orm = await tx.orm()
  const row = await orm.credential.findFirst({ where: { id: credential.id, organizationId } })
  if (row === null) throw new ApiError('unknown_api_key')
  if (row.expiresAt !== null && row.expiresAt.getTime() <= Date.now()) throw new ApiError('api_key_expired')
  return row
}

/** @param type restricts the list to one family. */
export function listCredentials(
  db: Db,
  scope: ScopeFilter,
  type: string | undefined,
  page: KeysetPage,
): Promise<BoundCredential[]> {
  return db.orm.credential.findMany({
    where: {
      ...shown(scope),
      ...(type === undefined ? {} : { type }),
      ...behind(page.after, page.order, (id) => ({ id })),
    },
    include: { inbox: { select: { address: true } } },
    orderBy: [{ createdAt: page.order }, { id: page.order }],
    take: page.take,
  })
}

/** The keys of a scope. Keys that expired long ago are not shown, swept or not (identity 3.1, 10.3). */
function shown(scope: ScopeFilter): Prisma.CredentialWhereInput {
  const since = new Date(Date.now() - LIMITS.apiKey.listedAfterExpiry)
  return {
    organizationId: scope.organizationId,
    ...(scope.podId === undefined ? {} : { podId: scope.podId }),
    ...(scope.inboxUid === undefined ? {} : { inboxUid: scope.inboxUid }),
    AND: { OR: [{ expiresAt: null }, { expiresAt: { gte: since } }] },
  }
}
