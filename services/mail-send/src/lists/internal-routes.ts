import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import type { Queryable } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { stateOf } from './events.ts'
import { listEntries } from './store.ts'

type Asked = InternalRequestOf<'mail-send.findListEntries'>['mails'][number]
type Found = InternalResponseOf<'mail-send.findListEntries'>['mails'][number]

const DIRECTIONS = ['receive', 'reply'] as const

/** Confirms to the mailbox what it knows of lists from events. */
export function listEntryRoutes(
  db: Queryable,
): Pick<InternalHandlers<'mail-send'>, 'mail-send.findListEntries' | 'mail-send.snapshotListEntries'> {
  return {
    'mail-send.snapshotListEntries': async ({ body: { after, limit } }) => {
      const rows = await listEntries.inbound(db, after, limit)
      const last = rows.at(-1)
      return { entries: rows.map(stateOf), ...(last && rows.length === limit && { next: last.id }) }
    },

    'mail-send.findListEntries': async ({ body }) => ({
      mails: await Promise.all(body.mails.map((mail) => findEntries(db, mail))),
    }),
  }
}

async function findEntries(db: Queryable, { organization_id, pod_id, inbox_uid, names }: Asked): Promise<Found> {
  const inbox = { organizationId: organization_id, podId: pod_id, uid: inbox_uid }
  const found = await Promise.all(
    DIRECTIONS.map(async (direction) =>
      (await listEntries.find(db, direction, inbox, names)).map(({ tier, type, entry }) => ({
        direction,
        tier,
        type,
        ...(entry !== null && { entry }),
      })),
    ),
  )
  return found.flat()
}
