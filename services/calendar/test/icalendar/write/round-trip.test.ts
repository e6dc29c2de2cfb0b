import { createCalendarReader, type ReadFile } from '../../../src/icalendar/read/index.ts'
import { calendarObject, seriesComponents } from '../../../src/icalendar/write/index.ts'
import type { EventState } from '../../../src/model/rows.ts'
import { edit, oneOff, series } from '../../dates/states.ts'
import { vectors } from './programs/vectors.ts'

const reader = createCalendarReader()
afterAll(() => reader.close())

async function read(calendar: string): Promise<ReadFile> {
  const result = await reader.read(Buffer.from(calendar))
  if ('unreadable' in result) throw new Error(result.unreadable)
  return result.file
}

const sent = (state: EventState): Promise<ReadFile> => {
  const writing = { address: 'desk@example.com', at: new Date('2026-02-01T10:00:00Z') }
  return read(
    calendarObject(
      'REQUEST',
      seriesComponents(state, writing, () => true),
    ),
  )
}

describe('what is sent', () => {
  it('is read here in every form', async () => {
    const titles = await Promise.all(vectors().map(async ({ calendar }) => (await read(calendar)).events[0]?.title))
    expect(titles).toEqual(vectors().map(({ summary }) => summary))
  })

  it('is read as the series that it was', async () => {
    const recurrence = {
      rule: 'FREQ=DAILY;COUNT=9',
      exdates: ['2026-03-04T09:00:00'],
      rdates: ['2026-04-01T10:00:00', { start: '2026-04-02T10:00:00', duration: 'PT2H' }],
    }
    const attendees = [{ email: 'ann@example.org', name: 'Ann', status: 'tentative', role: 'optional' }] as const
    const state = series(recurrence, { attendees, description: 'a\nb;c,d', sequence: 4 })
    const { events } = await sent({ ...state, edits: [edit('2026-03-05T09:00:00', 'single', { title: 'Later' })] })
    const zone = 'Europe/Berlin'
    expect(events).toMatchObject([
      {
        sequence: 4,
        title: 'Standup',
        description: 'a\nb;c,d',
        location: 'Room 1',
        status: 'confirmed',
        start: { wall: '2026-03-02T09:00:00', zone },
        end: { wall: '2026-03-02T09:30:00', zone },
        rule: 'FREQ=DAILY;COUNT=9',
        exdates: [{ wall: '2026-03-04T09:00:00', zone }],
        rdates: [
          { wall: '2026-04-01T10:00:00', zone },
          { start: { wall: '2026-04-02T10:00:00', zone }, duration: 'PT2H' },
        ],
        organizer: 'desk@example.com',
        attendees,
      },
      { recurrenceId: { wall: '2026-03-05T09:00:00', zone }, title: 'Later', description: 'a\nb;c,d' },
    ])
  })

  it('is read as the days that it was', async () => {
    const { events } = await sent(oneOff('2026-11-02', '2026-11-04'))
    expect(events[0]).toMatchObject({ start: { wall: '2026-11-02' }, end: { wall: '2026-11-05' } })
  })
})
