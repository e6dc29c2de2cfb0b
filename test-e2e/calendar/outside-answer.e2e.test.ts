import { calendarEvent } from '@restante/contracts/resources'
import { missingPython, waitFor } from '@restante/testkit'
import { calendarOf, newEvent, wallTime } from '../support/calendars.ts'
import { describeAtFullLength } from '../support/programs/programs.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'
import { calendarPrograms, OutsideCalendar } from './outside-calendar.ts'

const DAY = 24 * 3_600_000
const NEEDS = { programs: ['python3'], packages: missingPython() }

describeAtFullLength(NEEDS, 'a person with a calendar of other programs', () => {
  const system = useSystem()
  beforeAll(() => calendarPrograms(), 180_000)

  it('is invited, accepts, is told of another time, and declines', async () => {
    const { api, client } = system.tenant
    const person = system.peer.address(newUsername('person'))
    const calendar = system.cleanUp(await OutsideCalendar.start(system.endpoints, person))
    const { inboxId } = await client.inboxes.create({})
    const attendees = [{ email: person, name: 'Größe "A", Boss' }]
    const id = await newEvent(api, inboxId, { attendees, send_invites: true, timezone: 'Europe/Berlin' })
    const read = async () => calendarEvent.parse((await api.get(`${calendarOf(inboxId)}/events/${id}`)).body)
    const answered = (status: string) =>
      waitFor(async () => (await read()).attendees?.some((one) => one.status === status), {
        what: `the answer ${status}`,
      })

    const event = await read()
    await calendar.receive((await system.peer.server.next(person)).raw)
    expect(Date.parse(await calendar.answer(event.uid, 'accept'))).toBe(Date.parse(event.start_at))
    await answered('accepted')

    const moved = { start: wallTime(2 * DAY), end: wallTime(2 * DAY + 3_600_000), send_invites: true }
    expect((await api.patch(`${calendarOf(inboxId)}/events/${id}`, moved)).status).toBe(200)
    const matches = ({ raw }: { raw: Buffer }) => raw.includes('SEQUENCE:1')
    await calendar.receive((await system.peer.server.next(person, { matches })).raw)
    expect(Date.parse(await calendar.answer(event.uid, 'decline'))).toBe(Date.parse((await read()).start_at))
    await answered('declined')
  })
})
