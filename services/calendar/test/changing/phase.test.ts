import { requireRemovable } from '../../src/changing/rules/phase.ts'
import type { CalendarDate } from '../../src/dates/index.ts'

const START = Date.UTC(2030, 0, 7, 9)
const date = { start_at: new Date(START), end_at: new Date(START + 3_600_000), status: 'confirmed', begun: undefined }

it.each([
  ['before its start', -1, {}, undefined],
  ['while its start is being recorded', 2_000, {}, 'event_starting'],
  ['while it would run and is cancelled', 2_000, { status: 'cancelled' }, undefined],
  ['after its end', 3_600_000, {}, 'event_already_started'],
] as const)('answers who takes out a date %s', (_, after, given, code) => {
  const removal = () => requireRemovable({ ...date, ...given } as CalendarDate, new Date(START + after))
  if (code === undefined) expect(removal).not.toThrow()
  else expect(removal).toThrow(expect.objectContaining({ code }))
})
