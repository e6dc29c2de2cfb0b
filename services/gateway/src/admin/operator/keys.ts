import { isPermission, type Permission } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Actor } from '../../audit/actor.ts'
import { issueCredential } from '../../credentials/insert.ts'
import { refuseBeyondLimit } from '../../credentials/limit.ts'
import type { Secrets } from '../../credentials/secrets.ts'
import type { BoundCredential } from '../../credentials/store.ts'
import type { Credential, Organization } from '../../generated/prisma/client.ts'
import { parseReference } from '../../inboxes/references.ts'
import { findPod } from '../../pods/references.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { behind, byCreation } from '../../storage/keyset-condition.ts'
import { pages } from '../../storage/read-in-batches.ts'
import type { TenancyEvents } from '../../tenancy/events.ts'
import { UsageError } from './usage-error.ts'

export interface NewKey {
  readonly organizationId: string
  /** Binds the key to a pod, by id or client_id. */
  readonly pod?: string | undefined
  /** Binds the key to an inbox, by address or client_id. */
  readonly inbox?: string | undefined
  readonly name?: string | undefined
  /** Absent: an unrestricted key. */
  readonly permissions?: readonly string[] | undefined
  readonly expiresAt?: Date | undefined
}

export interface MadeKey {
  readonly row: Credential
  /** Shown once; it cannot be retrieved again. */
  readonly secret: string
}

export type ListedKey = BoundCredential

interface KeyOptions {
  readonly events: TenancyEvents
  readonly secrets: Secrets
  readonly credentialLimit: number
}

/** Creates a key in an organization that is locked. No credential grants it, so it may have any permission. */
export async function issueKey(
  tx: Tx,
  deps: KeyOptions,
  organization: Organization,
  given: NewKey,
  actor: Actor,
): Promise<MadeKey> {
  const { name = LIMITS.name.default, expiresAt } = given
  if (expiresAt !== undefined && expiresAt <= new Date()) throw new UsageError('The expiry must be in the future.')
  const permissions = given.permissions === undefined ? undefined : new Set(given.permissions.map(permissionNamed))
  const appConnect = permissions === undefined || permissions.delete('app_connect')
  await refuseBeyondLimit(tx, deps.events, organization, deps.credentialLimit)
  const scope = { organizationId: organization.id, ...(await bindingOf(tx, organization.id, given)) }
  const key = { scope, name, rights: { permissions, appConnect }, expiresAt }
  return issueCredential(tx, deps, key, actor, new Date())
}

/** Keys of an organization, oldest first, a page at a time. */
export function listKeys(db: Db, organizationId: string): AsyncGenerator<ListedKey[]> {
  return pages((after, take) =>
    db.orm.credential.findMany({
      where: { organizationId, AND: behind(after && byCreation(after), 'asc', (id) => ({ id })) },
      include: { inbox: { select: { address: true } } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take,
    }),
  )
}

/**
 * The organization of a live inbox. On custom domains several organizations may have an inbox of one address.
 * @throws UsageError unless the address names exactly one.
 */
export async function ownerOfInbox(db: Db, address: string): Promise<string> {
  const where = { address: address.toLowerCase(), deletedAt: null }
  const rows = await db.orm.inbox.findMany({ where, select: { organizationId: true }, take: 2 })
  const [owner, other] = rows.map(({ organizationId }) => organizationId)
  if (owner === undefined) throw new UsageError(`There is no inbox ${address}.`)
  if (other !== undefined)
    throw new UsageError(`Organizations ${owner} and ${other} have it: name one by --organization.`)
  return owner
}

async function bindingOf(tx: Tx, organizationId: string, { pod, inbox }: NewKey) {
  if (inbox !== undefined) {
    const { address, clientId } = parseReference(inbox)
    const orm = await tx.orm()
    const row = await orm.inbox.findFirst({
      where: { organizationId, deletedAt: null, ...(address === null ? { clientId } : { address }) },
    })
    if (row === null) throw new UsageError(`The organization has no inbox ${inbox}.`)
    return { podId: row.podId, inboxUid: row.uid }
  }
  if (pod === undefined) return {}
  const podId = await findPod(tx, organizationId, pod)
  if (podId === undefined) throw new UsageError(`The organization has no pod ${pod}.`)
  return { podId }
}

function permissionNamed(name: string): Permission {
  if (isPermission(name)) return name
  throw new UsageError(`Unknown permission ${name}.`)
}
