import { editDate, editDates, type SingleEdit } from '../../../src/changing/transitions/index.ts'
import type { EventState } from '../../../src/model/rows.ts'
import { edit, series } from '../../dates/states.ts'

const at = new Date('2026-03-01T00:00:00Z')
const cause = { operationId: 'a', at, address: 'inbox@x.test' }
const slotOf = (day: number) => `2026-03-${String(day).padStart(2, '0')}T09:00:00`
const change = (day: number, fields: SingleEdit['edit']['fields']): SingleEdit => ({
  edit: { slot: slotOf(day), mode: 'single', fields },
  cause,
})

describe('changes of several dates', () => {
  it('are what changes of one after the other are', () => {
    const given = series()
    const attendees = [{ email: 'inbox@x.test', status: 'needs_action' as const, role: 'required' as const }]
    const { inbox_uid, organization_id, id: event_id } = given.event
    const answer = { event_id, inbox_uid, organization_id, email: 'inbox@x.test', comment: null, responded_at: at }
    const state: EventState = {
      ...given,
      edits: [edit(slotOf(4), 'single', { title: 'Old' }), edit(slotOf(6), 'future', { location: 'Room 2' })],
      responses: [5, 9].map((day) => ({ ...answer, slot: slotOf(day), status: 'accepted' as const })),
    }
    const changes = [
      change(4, { start: '2026-03-04T11:00:00' }),
      change(9, { attendees }),
      change(7, { title: 'New', duration_value: 7_200_000 }),
      change(3, { status: 'cancelled' }),
    ]
    const oneByOne = changes.reduce((before, { edit: one }) => editDate(before, one, cause), state)
    expect(editDates(state, changes)).toEqual(oneByOne)
  })

  it('of too many dates are refused', () => {
    const state = series()
    const edits = Array.from({ length: 729 }, (_, index) => {
      const day = new Date(Date.UTC(2026, 5, 1 + index)).toISOString().slice(0, 10)
      return edit(`${day}T09:00:00`, 'single', { title: 'New' })
    })
    const full = { ...state, edits }
    expect(editDates(full, [change(3, { title: 'New' })]).edits).toHaveLength(730)
    expect(() => editDates(full, [change(3, { title: 'New' }), change(4, { title: 'New' })])).toThrow('at most 730')
  })
})
