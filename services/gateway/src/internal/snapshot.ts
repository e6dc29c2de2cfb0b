import type { TenancyEntity } from '@restante/contracts/events'
import { isUuid } from '@restante/contracts/vocabulary'
import { invalid } from '@restante/service/errors'
import type { Db } from '../storage/database.ts'
import { credentialState, inboxState, organizationState, podState } from '../tenancy/states.ts'

/** The order of a snapshot: every entity comes after the one it belongs to. */
const KINDS = ['organization', 'pod', 'inbox', 'credential'] as const
type Kind = (typeof KINDS)[number]

export interface SnapshotPage {
  readonly entities: TenancyEntity[]
  /** Position of the next page; absent on the last one. */
  readonly next?: string
}

/**
 * One page of every live entity, by kind and then by id. Concurrent changes reach the reader by their events, with a
 * higher version; so do entities created before the current position.
 */
export async function snapshotTenancy(db: Db, after: string | undefined, limit: number): Promise<SnapshotPage> {
  const { kind, id } = parsePosition(after)
  const page = await READERS[kind](db, id, limit)
  const last = page.at(-1)
  if (last !== undefined && page.length === limit) return { entities: entitiesOf(page), next: `${kind}:${last.id}` }
  const following = KINDS[KINDS.indexOf(kind) + 1]
  return following === undefined
    ? { entities: entitiesOf(page) }
    : { entities: entitiesOf(page), next: `${following}:` }
}

interface Listed {
  readonly id: string
  readonly entity: TenancyEntity
}

const READERS: Record<Kind, (db: Db, after: string | undefined, take: number) => Promise<Listed[]>> = {
  organization: async (db, after, take) => {
    const rows = await db.orm.organization.findMany({ where: beyond(after), orderBy: { id: 'asc' }, take })
    return rows.map((row) => ({
      id: row.id,
      entity: { type: 'organization.changed', payload: organizationState(row) },
    }))
  },
  pod: async (db, after, take) => {
    const where = { deletedAt: null, ...beyond(after) }
    const rows = await db.orm.pod.findMany({ where, orderBy: { id: 'asc' }, take })
    return rows.map((row) => ({ id: row.id, entity: { type: 'pod.changed', payload: podState(row) } }))
  },
  inbox: async (db, after, take) => {
    const where = { deletedAt: null, ...(after === undefined ? {} : { uid: { gt: after } }) }
    const rows = await db.orm.inbox.findMany({ where, orderBy: { uid: 'asc' }, take })
    return rows.map((row) => ({ id: row.uid, entity: { type: 'inbox.changed', payload: inboxState(row) } }))
  },
  credential: async (db, after, take) => {
    const rows = await db.orm.credential.findMany({ where: beyond(after), orderBy: { id: 'asc' }, take })
    return rows.map((row) => ({ id: row.id, entity: { type: 'credential.changed', payload: credentialState(row) } }))
  },
}

function beyond(after: string | undefined) {
  return after === undefined ? {} : { id: { gt: after } }
}

function entitiesOf(page: readonly Listed[]): TenancyEntity[] {
  return page.map(({ entity }) => entity)
}

function parsePosition(after: string | undefined): { kind: Kind; id: string | undefined } {
  if (after === undefined) return { kind: 'organization', id: undefined }
  const [name = '', id = ''] = after.split(':')
  const kind = KINDS.find((known) => known === name)
  if (kind === undefined || (id !== '' && !isUuid(id))) throw invalid(['after'], 'Not a position of this snapshot')
  return { kind, id: id === '' ? undefined : id }
}
