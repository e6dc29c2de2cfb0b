import type { Attendee } from '@restante/contracts/resources'
import type { SentChange } from '../../../src/invitations/out/index.ts'
import { leavesInbox, mailedAttendees, mailsFor } from '../../../src/invitations/out/index.ts'
import type { EditRow, EventState } from '../../../src/model/rows.ts'
import { edit, oneOff, series } from '../../dates/states.ts'

const ADDRESS = 'desk@example.com'
const writing = { address: ADDRESS, displayName: 'The Desk', at: new Date('2026-02-01T10:00:00Z') }

const attendee = (email: string, more: Partial<Attendee> = {}): Attendee => ({
  email,
  status: 'needs_action',
  role: 'required',
  ...more,
})
const [ann, bob] = [attendee('ann@example.org', { name: 'Ann' }), attendee('bob@example.org')]
const attendees = [ann, bob, attendee('Desk@Example.com')]

const meeting = (more: Partial<EventState['event']> = {}): EventState =>
  oneOff('2026-03-02T09:00:00', '2026-03-02T09:30:00', { attendees, ...more })
const daily = (more: Partial<EventState['event']> = {}, edits: readonly EditRow[] = []): EventState => ({
  ...series({ rule: 'FREQ=DAILY' }, { attendees, sequence: 2, ...more }),
  edits,
})

/** What each mail says, in short. */
function planned(change: SentChange): string[] {
  return mailsFor(change).map(({ recipient, about, method, only_invited, calendar }) => {
    const events = calendar.replaceAll('\r\n ', '').split('BEGIN:VEVENT').slice(1)
    const facts = events.map((event) => {
      const of = (name: string) => new RegExp(`^${name}[^:]*:(.*)\r$`, 'm').exec(event)?.[1]
      const id = of('RECURRENCE-ID')
      const to = [...event.matchAll(/^ATTENDEE.*mailto:(\w+)@/gm)].map(([, name]) => name?.toLowerCase())
      return `${of('SEQUENCE')}${id ? ` ${id}` : ''} ${of('STATUS')} ${to.join('+')}`
    })
    return [recipient, about, method, ...(only_invited ? ['only invited'] : []), ...facts].join(' | ')
  })
}

describe('mails about an event', () => {
  it('invite every attendee but the inbox itself, with one object', () => {
    expect(planned({ kind: 'event', after: meeting(), ...writing })).toEqual([
      'ann@example.org | invitation | REQUEST | 0 CONFIRMED ann+bob+desk',
      'bob@example.org | invitation | REQUEST | 0 CONFIRMED ann+bob+desk',
    ])
    expect(planned({ kind: 'event', after: meeting({ attendees: [] }), ...writing })).toEqual([])
  })

  it('tell whom an update removed, alone, if they were invited', () => {
    const after = meeting({ attendees: [ann], sequence: 4 })
    expect(planned({ kind: 'event', before: meeting({ sequence: 3 }), after, ...writing })).toEqual([
      'ann@example.org | invitation | REQUEST | 4 CONFIRMED ann',
      'bob@example.org | cancellation | CANCEL | only invited | 4 CANCELLED bob',
    ])
  })

  it('tell whoever was removed nothing of what was changed with it', () => {
    const before = meeting({ sequence: 3 })
    const secret = { title: 'Secret', description: 'Secret', location: 'Secret', start: '2026-04-01T09:00:00' }
    const after = meeting({ ...secret, attendees: [ann], sequence: 4 })
    const slot = '2026-03-05T09:00:00'
    const series = daily()
    const edited = (mode: 'single' | 'future') => ({ ...edit(slot, mode, { ...texts, attendees: [ann] }), sequence: 3 })
    const { start: _, ...texts } = secret
    const changes: SentChange[] = [
      { kind: 'event', before, after, ...writing },
      ...(['single', 'future'] as const).map((mode) => {
        const next = daily({}, [edited(mode)])
        return { kind: 'date', mode, slot, before: series, after: next, ...writing } as const
      }),
    ]
    for (const change of changes) {
      const mail = mailsFor(change).find(({ recipient }) => recipient === 'bob@example.org')
      expect(mail).toMatchObject({ method: 'CANCEL', title: 'Standup' })
      expect(JSON.stringify(mail)).not.toMatch(change.kind === 'event' ? /Secret|20260401/ : /Secret/)
      expect(mail?.calendar).toContain(`SEQUENCE:${change.kind === 'event' ? 4 : 3}\r\n`)
    }
  })

  it('have a sequence within its range', () => {
    const before = meeting({ sequence: 2_147_483_647, attendees: [ann] })
    expect(planned({ kind: 'deleted', before, ...writing })).toEqual([
      'ann@example.org | cancellation | CANCEL | 2147483647 CANCELLED ann',
    ])
  })

  it('cancel it when its status is set so, because a request has no such status', () => {
    const after = meeting({ status: 'cancelled', sequence: 1, attendees: [ann] })
    expect(planned({ kind: 'event', before: meeting({ attendees: [ann] }), after, ...writing })).toEqual([
      'ann@example.org | cancellation | CANCEL | 1 CANCELLED ann',
    ])
  })

  it('cancel a deleted one with a higher sequence than any that was sent', () => {
    const sent = { ...edit('2026-03-05T09:00:00', 'single', { title: 'Other' }), sequence: 5 }
    expect(planned({ kind: 'deleted', before: daily({ attendees: [ann] }, [sent]), ...writing })).toEqual([
      'ann@example.org | cancellation | CANCEL | 6 CANCELLED ann',
    ])
  })

  it('have the edited dates that were sent, and not those that were edited silently', () => {
    const sent = { ...edit('2026-03-05T09:00:00', 'single', { title: 'Other' }), sequence: 3 }
    const silent = edit('2026-03-06T09:00:00', 'single', { title: 'Secret' })
    expect(planned({ kind: 'event', after: daily({ attendees: [ann] }, [sent, silent]), ...writing })).toEqual([
      'ann@example.org | invitation | REQUEST | 2 CONFIRMED ann | 3 20260305T090000 CONFIRMED ann',
    ])
  })
})

describe('mails about dates', () => {
  const slot = '2026-03-05T09:00:00'

  it('have the one date that was changed', () => {
    const after = daily({}, [{ ...edit(slot, 'single', { title: 'Other', attendees: [ann] }), sequence: 3 }])
    expect(planned({ kind: 'date', mode: 'single', slot, before: daily(), after, ...writing })).toEqual([
      'ann@example.org | invitation | REQUEST | 3 20260305T090000 CONFIRMED ann',
      'bob@example.org | cancellation | CANCEL | only invited | 3 20260305T090000 CANCELLED bob',
    ])
  })

  it('cancel the date whose status was set so', () => {
    const after = daily({ attendees: [ann] }, [{ ...edit(slot, 'single', { status: 'cancelled' }), sequence: 3 }])
    expect(planned({ kind: 'date', mode: 'single', slot, before: daily(), after, ...writing })[0]).toBe(
      'ann@example.org | cancellation | CANCEL | 3 20260305T090000 CANCELLED ann',
    )
  })

  it('have the series and the next hundred dates that a change of all later ones is about', () => {
    const before = daily({ attendees: [ann] })
    const after = daily({ attendees: [ann] }, [{ ...edit(slot, 'future', { location: 'Room 2' }), sequence: 3 }])
    const [mail, ...others] = planned({ kind: 'date', mode: 'future', slot, before, after, ...writing })
    expect(others).toEqual([])
    const [to, about, method, all, first, ...more] = mail?.split(' | ') ?? []
    expect([to, about, method, all, first]).toEqual([
      'ann@example.org',
      'invitation',
      'REQUEST',
      '2 CONFIRMED ann',
      '3 20260305T090000 CONFIRMED ann',
    ])
    expect(more).toHaveLength(99)
  })

  it('have the dates that were changed also where they lie far behind those that were changed before', () => {
    const before = daily({ attendees: [ann] }, [{ ...edit(slot, 'future', { location: 'Room 2' }), sequence: 3 }])
    const far = { ...edit('2027-06-01T09:00:00', 'future', { location: 'Room 3' }), sequence: 4 }
    const silent = edit('2027-06-02T09:00:00', 'single', { title: 'Secret' })
    const after = { ...before, edits: [...before.edits, far, silent] }
    const change = { kind: 'date', mode: 'future', slot: far.slot, before, after, ...writing } as const
    const [mail] = mailsFor(change)
    const object = mail?.calendar.replaceAll('\r\n ', '')
    expect(object).toContain('RECURRENCE-ID;TZID=Europe/Berlin:20270601T090000\r\n')
    expect(object).toContain('RECURRENCE-ID;TZID=Europe/Berlin:20270602T090000\r\n')
    expect(object).toContain('RECURRENCE-ID;TZID=Europe/Berlin:20260305T090000\r\n')
    expect(object).not.toContain('Secret')
  })

  it('cancel a date that is taken out of its series', () => {
    const before = daily({ attendees: [ann] })
    const after = daily({ attendees: [ann], exdates: [slot], sequence: 3 })
    expect(planned({ kind: 'date-cancelled', mode: 'single', slot, before, after, ...writing })).toEqual([
      'ann@example.org | cancellation | CANCEL | 3 20260305T090000 CANCELLED ann',
    ])
  })

  it('end the series where all later dates are cancelled', () => {
    const before = daily({ attendees: [ann] })
    const after = daily({ attendees: [ann], truncate_before: slot, sequence: 3 })
    const change = { kind: 'date-cancelled', mode: 'future', slot, before, after, ...writing } as const
    expect(planned(change)).toEqual(['ann@example.org | cancellation | REQUEST | 3 CONFIRMED ann'])
    expect(mailsFor(change)[0]?.calendar).toContain('RRULE:FREQ=DAILY;UNTIL=20260305T075959Z\r\n')
  })
})

describe('an answer', () => {
  const invitation = {
    source: 'email',
    organizer_email: 'Boss@example.org',
    origin_message_id: '<m1@example.org>',
  } as const
  const own = attendee(ADDRESS, { name: 'Desk' })

  it('goes to the organizer, as an answer to the invitation, with what the inbox alone says', () => {
    const state = meeting({ ...invitation, attendees: [ann, own], sequence: 7 })
    const [mail, ...others] = mailsFor({ kind: 'reply', state, status: 'accepted', comment: 'Gladly', ...writing })
    expect(others).toEqual([])
    expect(mail).toMatchObject({
      recipient: 'boss@example.org',
      about: 'answer',
      method: 'REPLY',
      in_reply_to: '<m1@example.org>',
    })
    const lines = mail?.calendar.replaceAll('\r\n ', '').split('\r\n') ?? []
    expect(lines).toEqual(expect.arrayContaining(['METHOD:REPLY', 'SEQUENCE:7', 'COMMENT:Gladly']))
    expect(lines).toContain('ORGANIZER:mailto:Boss@example.org')
    expect(lines.filter((line) => line.startsWith('ATTENDEE'))).toEqual([
      'ATTENDEE;PARTSTAT=ACCEPTED;CN=Desk:mailto:desk@example.com',
    ])
    expect(mail?.text).toBe(
      'The Desk has accepted this invitation.\n\nStandup\nWhen: Monday, March 2, 2026, 09:00 to 09:30 (Europe/Berlin)\nWhere: Room 1\n\nGladly\n',
    )
  })

  it('about one date names it', () => {
    const state = daily({ ...invitation, attendees: [ann, own] })
    const slot = '2026-03-05T09:00:00'
    const [mail] = mailsFor({ kind: 'reply', state, slot, status: 'declined', ...writing })
    expect(mail?.calendar).toContain('RECURRENCE-ID;TZID=Europe/Berlin:20260305T090000\r\n')
    expect(mail?.text).toMatch(/^The Desk has declined this invitation\./)
  })
})

describe('the text of a mail', () => {
  it('says when, how often and where', () => {
    const state = daily({
      rule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO',
      truncate_before: '2026-05-11T09:00:00',
      attendees: [ann],
    })
    expect(mailsFor({ kind: 'event', after: state, ...writing })[0]?.text).toBe(
      'Standup\nWhen: Monday, March 2, 2026, 09:00 to 09:30 (Europe/Berlin)\nRepeats: every 2 weeks until Sunday, May 10, 2026\nWhere: Room 1\n',
    )
  })

  it('has no control characters', () => {
    const state = meeting({ description: 'a\r\nb\u0000c', location: null, attendees: [ann] })
    expect(mailsFor({ kind: 'event', after: state, ...writing })[0]?.text).toMatch(/\n\na\nbc\n$/)
  })
})

it('mail leaves no inbox that is paused, and no organization that is suspended', () => {
  const inbox = { uid: '', address: ADDRESS, pod_id: '', paused: false }
  expect(leavesInbox({ inbox, sending: 'ok' })).toBe(true)
  expect(leavesInbox({ inbox: { ...inbox, paused: true }, sending: 'ok' })).toBe(false)
  expect(leavesInbox({ inbox, sending: 'suspended' })).toBe(false)
  expect(mailedAttendees(attendees, ADDRESS)).toEqual([ann, bob])
})
