import { sweepAll } from '@restante/service/database'
import { datedId } from '../../src/model/dated-id.ts'
import { getEvent } from '../../src/reading/get-event.ts'
import { loadState } from '../../src/store/index.ts'
import { SWEEPS } from '../../src/tenancy/sweeper.ts'
import { CalendarRows, DAY, testInbox } from '../reading/rows.ts'

const SLOT = '2026-03-03T09:00:00'
const OTHER = '2026-03-05T09:00:00'

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

const sweep = () => sweepAll(rows.db, SWEEPS, new AbortController().signal)
const ago = (days: number) => new Date(Date.now() - days * DAY)
const inbox = testInbox()
const daily = () =>
  rows.event(inbox, { start: '2026-03-02T09:00:00', rule: 'FREQ=DAILY', exdates: [SLOT, OTHER], end_at: ago(0) })

it('keeps a date out of its series that was taken out while it ran, as long as its record is kept', async () => {
  const event = await daily()
  await rows.begun(event, { slot: SLOT, state: 'ended', start_at: ago(31), end_at: ago(29) })
  await rows.cancelled(event, { slot: SLOT, document: { title: 'Event' }, cancelled_at: ago(31) })
  await sweep()
  const state = await loadState(rows.db, inbox.uid, event.id)
  expect(state?.cancelled).toMatchObject([{ slot: SLOT, document: { title: 'Event' } }])
})

it('keeps the mark of a date that was taken out, so that it is told from one that never was', async () => {
  const event = await daily()
  await rows.cancelled(event, { slot: SLOT, document: { title: 'Event' }, cancelled_at: ago(31) })
  await rows.cancelled(event, { slot: '2026-03-04T09:00:00', document: {}, cancelled_at: ago(31) })
  await sweep()
  await sweep()
  const state = await loadState(rows.db, inbox.uid, event.id)
  expect(state?.cancelled).toMatchObject([{ slot: SLOT, document: null }])
  await expect(getEvent(rows.db, inbox, datedId(event.id, SLOT))).rejects.toMatchObject({ code: 'event_expired' })
  await expect(getEvent(rows.db, inbox, datedId(event.id, OTHER))).rejects.toMatchObject({ code: 'not_found' })
})
