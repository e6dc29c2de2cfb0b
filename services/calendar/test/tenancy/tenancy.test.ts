import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { deliverOnce, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { sweepAll } from '@restante/service/database'
import {
  countRows,
  inboxDeletedEvent,
  inboxScope,
  organizationDeletedEvent,
  organizationTakenOverEvent,
  queryRows,
} from '@restante/testkit'
import { hasCalendarAccess } from '../../src/access/store.ts'
import { takeOvers } from '../../src/take-overs/table.ts'
import { heldInboxes } from '../../src/tenancy/held-inboxes.ts'
import { SWEEPS } from '../../src/tenancy/sweeper.ts'
import { ORGANIZATION_TABLES } from '../../src/tenancy/tables.ts'
import { Calendars, TABLES } from './calendars.ts'

let calendars: Calendars
beforeAll(async () => {
  calendars = await Calendars.create()
})
afterAll(() => calendars.stop())

const everywhere = Object.fromEntries(TABLES.map((table) => [table, 1]))
const timersOf = (id: string) => countRows(calendars.db, 'timers where key = $1', id)

describe('every table with a column of an inbox or an organization', () => {
  it('is among those that a deletion purges', async () => {
    const names = async (column: string) => {
      const found = await queryRows<{ table_name: string }>(
        calendars.db,
        `select table_name from information_schema.columns
          where table_schema = 'public' and column_name = $1 and table_name <> 'deleted_scopes'`,
        column,
      )
      return found.map(({ table_name }) => table_name).sort()
    }
    expect(await names('inbox_uid')).toEqual([...TABLES].sort())
    expect(await names('organization_id')).toEqual(['events', ...ORGANIZATION_TABLES].sort())
  })
})

describe('a deleted inbox', () => {
  it('leaves nothing of its calendar, no timer and no event about it', async () => {
    const [inbox, other] = [inboxScope(), inboxScope()]
    const id = await calendars.fill(inbox)
    await calendars.fill(other)
    expect([await calendars.rowsOf(inbox), await timersOf(id)]).toEqual([everywhere, 1])
    await deliverTwiceAndSwapped(calendars.tenancy.consumer, inboxDeletedEvent(inbox), inboxDeletedEvent(inboxScope()))
    await calendars.tenancy.purge()
    expect([await calendars.rowsOf(inbox), await timersOf(id)]).toEqual([{}, 0])
    expect(await calendars.rowsOf(other)).toEqual(everywhere)
    expect(await countRows(calendars.db, 'outbox')).toBe(0)
  })

  it('is listed while anything of it is stored, with its address', async () => {
    const inbox = inboxScope()
    await calendars.fill(inbox)
    const held = () => heldInboxes(calendars.db, '00000000-0000-0000-0000-000000000000', 1_000)
    expect(await held()).toContainEqual({
      inbox_uid: inbox.inboxUid,
      organization_id: inbox.organizationId,
      pod_id: inbox.podId,
      address: inbox.address,
    })
  })
})

describe('a deleted organization', () => {
  it('leaves nothing in any table', async () => {
    const inbox = inboxScope()
    await calendars.fill(inbox)
    await calendars.insert('calendar_access', { organization_id: inbox.organizationId, access: false, version: 2 })
    const deleted = organizationDeletedEvent(inbox.organizationId)
    await deliverOnce(calendars.tenancy.consumer, deleted)
    await calendars.tenancy.purge()
    expect(await calendars.rowsOf(inbox)).toEqual({})
    await deliverOnce(calendars.tenancy.consumer, changed(inbox.organizationId, 3, false))
    expect(await countRows(calendars.db, 'calendar_access where organization_id = $1', inbox.organizationId)).toBe(0)
  })
})

function changed(organization_id: string, version: number, calendar_access?: boolean) {
  const at = new Date()
  const times = { created_at: at.toISOString(), updated_at: at.toISOString() }
  const payload = { organization_id, version, status: 'active' as const, ...times }
  const state = calendar_access === undefined ? payload : { ...payload, calendar_access }
  return topics.tenancy.event('organization.changed', state, { time: at })
}

describe('access to calendars', () => {
  it('is there unless an organization was told to have none, and follows the latest word', async () => {
    const id = randomUUID()
    const { consumer } = calendars.tenancy
    const access = () => hasCalendarAccess(calendars.db, id)
    expect(await access()).toBe(true)
    await deliverOnce(consumer, changed(id, 4, false))
    expect(await access()).toBe(false)
    await deliverOnce(consumer, changed(id, 3, true))
    expect(await access()).toBe(false)
    await deliverOnce(consumer, changed(id, 5))
    expect(await access()).toBe(true)
    await deliverOnce(consumer, changed(id, 4, false))
    expect(await access()).toBe(true)
  })
})

describe('a take-over', () => {
  const takenOver = (id: string, verified: boolean, takeOvers = 1) =>
    organizationTakenOverEvent(id, { takeOvers, verified, at: new Date() })

  it('ends nothing before the human has confirmed the new key', async () => {
    const inbox = inboxScope()
    await calendars.fill(inbox)
    await deliverOnce(calendars.tenancy.consumer, takenOver(inbox.organizationId, false))
    expect(await calendars.rowsOf(inbox)).toEqual(everywhere)
  })

  it('ends events and feeds of earlier keys silently, with their mails and keys, and no later ones', async () => {
    const [inbox, other] = [inboxScope(), inboxScope()]
    const earlier = await calendars.fill(inbox)
    await calendars.fill(other)
    const later = await calendars.fill(inbox, 1)
    const event = takenOver(inbox.organizationId, true)
    await deliverTwiceAndSwapped(calendars.tenancy.consumer, event, takenOver(randomUUID(), true))
    expect(await calendars.rowsOf(inbox)).toEqual({ ...everywhere, deletions: 2 })
    expect([await timersOf(earlier), await timersOf(later)]).toEqual([0, 1])
    const [calendar] = await queryRows(
      calendars.db,
      'select event_count, timezone from calendars where inbox_uid = $1',
      inbox.inboxUid,
    )
    expect(calendar).toEqual({ event_count: 1, timezone: 'UTC' })
    expect(await calendars.rowsOf(other)).toEqual(everywhere)
    expect(await countRows(calendars.db, 'outbox')).toBe(0)
  })

  it('leaves the mails of the successor, also about events that are gone', async () => {
    const inbox = inboxScope()
    const [earlier, gone] = [await calendars.fill(inbox), await calendars.fill(inbox, 1)]
    await queryRows(calendars.db, 'delete from events where id = $1', gone)
    await deliverOnce(calendars.tenancy.consumer, takenOver(inbox.organizationId, true))
    const mailsOf = (id: string) => countRows(calendars.db, 'outgoing_mails where event_id = $1', id)
    expect([await mailsOf(earlier), await mailsOf(gone)]).toEqual([0, 1])
  })

  it('ends the feed of an earlier key', async () => {
    const inbox = inboxScope()
    await calendars.fill(inbox)
    await deliverOnce(calendars.tenancy.consumer, takenOver(inbox.organizationId, true))
    expect(await countRows(calendars.db, 'feeds where inbox_uid = $1', inbox.inboxUid)).toBe(0)
  })

  it('has requests that were admitted before it refused with 401', async () => {
    const organization_id = randomUUID()
    await deliverOnce(calendars.tenancy.consumer, takenOver(organization_id, true, 2))
    const asks = (take_overs?: number) =>
      calendars.db.transaction((tx) =>
        takeOvers.requireCurrent(tx, { organization_id, ...(take_overs !== undefined && { take_overs }) }),
      )
    await expect(asks()).rejects.toMatchObject({ code: 'unknown_api_key' })
    await expect(asks(1)).rejects.toMatchObject({ code: 'unknown_api_key' })
    await expect(asks(2)).resolves.toBeUndefined()
  })
})

describe('what has expired', () => {
  it('is deleted: dates a month after their end or cancellation, answers of deletions; no date that still runs', async () => {
    const inbox = inboxScope()
    await calendars.fill(inbox)
    const sweep = () => sweepAll(calendars.db, SWEEPS, new AbortController().signal)
    const age = async (days: number, state = 'ended') => {
      const then = `now() - interval '${days} days'`
      await queryRows(
        calendars.db,
        `update begun_dates set end_at = ${then}, state = $2 where inbox_uid = $1`,
        inbox.inboxUid,
        state,
      )
      await queryRows(
        calendars.db,
        `update cancelled_dates set cancelled_at = ${then} where inbox_uid = $1`,
        inbox.inboxUid,
      )
    }
    await age(29)
    await sweep()
    expect(await calendars.rowsOf(inbox)).toEqual(everywhere)
    await age(31, 'running')
    await queryRows(calendars.db, 'update deletions set expires_at = now() where inbox_uid = $1', inbox.inboxUid)
    await sweep()
    const { deletions, ...kept } = everywhere
    expect(await calendars.rowsOf(inbox)).toEqual(kept)
    await age(31)
    await sweep()
    // Without its mark a date that was taken out while it ran would come back.
    const { begun_dates, cancelled_dates, ...rest } = kept
    expect([cancelled_dates, deletions, begun_dates, await calendars.rowsOf(inbox)]).toEqual([1, 1, 1, rest])
  })
})
