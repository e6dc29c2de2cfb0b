import { changeEvent, removeDate } from '../../src/changing/transitions/index.ts'
import { dateAt, slotState } from '../../src/dates/index.ts'
import { begun, dates, series } from '../dates/states.ts'

const SLOT = '2026-03-04T09:00:00'
const at = new Date('2026-03-04T08:10:00Z')
const cause = { operationId: '9a7b3c2d-1e4f-4a6b-8c9d-0e1f2a3b4c5d', at, address: 'agent@example.com' }

describe.each(['single', 'future'] as const)('a running date that is deleted, mode=%s', (mode) => {
  const running = begun(SLOT, { state: 'running' })
  const state = { ...series({}, { seen_until: at }), begun: [begun('2026-03-03T09:00:00'), running] }
  const { after } = removeDate(state, { slot: SLOT, mode }, cause)

  it.each([
    ['two hours later', '2026-03-02T11:00:00', '2026-03-02T11:30:00'],
    ['earlier', '2026-03-02T06:00:00', '2026-03-02T06:30:00'],
    ['a day later, where another date has its slot', '2026-03-03T09:00:00', '2026-03-03T09:30:00'],
  ])('stays away when its series is moved %s', (_, start, end) => {
    expect(dateAt(after, SLOT)).toBeUndefined()
    const moved = changeEvent(after, { start, duration_value: Date.parse(`${end}Z`) - Date.parse(`${start}Z`) }, cause)
    expect(dateAt(moved, SLOT)).toBeUndefined()
    expect(slotState(moved, SLOT, at)).toBe('removed')
    expect(dates(moved, '2026-03-01T00:00:00Z', '2026-03-20T00:00:00Z').map(({ slot }) => slot)).not.toContain(SLOT)
    expect(dateAt(moved, '2026-03-03T09:00:00')).toBeDefined()
  })

  it('still gets its end', () => {
    expect(after.begun).toContainEqual(running)
  })
})
