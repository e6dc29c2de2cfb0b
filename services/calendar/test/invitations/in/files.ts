/** A calendar file of lines. */
export function calendarFile(method: string, ...components: readonly string[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//test//EN',
    `METHOD:${method}`,
    ...components,
    'END:VCALENDAR',
    '',
  ]
  return lines.join('\r\n')
}

/** A VEVENT with these lines; those that start like a usual one replace it. */
export function vevent(usual: Readonly<Record<string, string>>, ...more: readonly string[]): string {
  const lines = Object.entries(usual).map(([name, value]) =>
    /[:;]/.test(name) ? `${name}${value}` : `${name}:${value}`,
  )
  return ['BEGIN:VEVENT', ...lines, ...more, 'END:VEVENT'].join('\r\n')
}

/** Where a zone of a program is defined; only its name is looked at. */
export function vtimezone(tzid: string, ...more: readonly string[]): string {
  return [
    'BEGIN:VTIMEZONE',
    `TZID:${tzid}`,
    ...more,
    'BEGIN:STANDARD',
    'DTSTART:16010101T030000',
    'TZOFFSETFROM:+0200',
    'TZOFFSETTO:+0100',
    'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10',
    'END:STANDARD',
    'BEGIN:DAYLIGHT',
    'DTSTART:16010101T020000',
    'TZOFFSETFROM:+0100',
    'TZOFFSETTO:+0200',
    'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3',
    'END:DAYLIGHT',
    'END:VTIMEZONE',
  ].join('\r\n')
}

/** Invitations in the shapes of programs, from an organizer to an attendee. */
export const SHAPES: Readonly<Record<string, (organizer: string, attendee: string, uid: string) => string>> = {
  Google: (organizer, attendee, uid) =>
    calendarFile(
      'REQUEST',
      'CALSCALE:GREGORIAN',
      vtimezone('Europe/Berlin', 'X-LIC-LOCATION:Europe/Berlin'),
      [
        'BEGIN:VEVENT',
        'DTSTART;TZID=Europe/Berlin:20271007T090000',
        'DTEND;TZID=Europe/Berlin:20271007T100000',
        'RRULE:FREQ=WEEKLY;BYDAY=TH',
        'EXDATE;TZID=Europe/Berlin:20271014T090000',
        'DTSTAMP:20261001T080000Z',
        `ORGANIZER;CN=The Boss:mailto:${organizer}`,
        `UID:${uid}`,
        'ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=',
        ` TRUE;CN=${attendee};X-NUM-GUESTS=0:mailto:${attendee}`,
        'ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=OPT-PARTICIPANT;PARTSTAT=ACCEPTED;CN="Bo, Dr.":mailto:bo@customer.test',
        'X-MICROSOFT-CDO-OWNERAPPTID:-1234',
        'CREATED:20261001T070000Z',
        'DESCRIPTION:Agenda:\\n- one\\, two\\n\\nJoin: https://meet.example/abc',
        'LAST-MODIFIED:20261001T080000Z',
        'LOCATION:Room 1',
        'SEQUENCE:0',
        'STATUS:CONFIRMED',
        'SUMMARY:Weekly planning',
        'TRANSP:OPAQUE',
        'BEGIN:VALARM',
        'ACTION:DISPLAY',
        'DESCRIPTION:Alarm',
        'TRIGGER:-PT10M',
        'END:VALARM',
        'END:VEVENT',
      ].join('\r\n'),
    ),
  Outlook: (organizer, attendee, uid) =>
    calendarFile(
      'REQUEST',
      vtimezone('W. Europe Standard Time'),
      [
        'BEGIN:VEVENT',
        `ORGANIZER;CN=Boss:mailto:${organizer}`,
        `ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN=Agent:MAILTO:${attendee}`,
        'DESCRIPTION;LANGUAGE=de-DE:\\n',
        `UID:${uid}`,
        'SUMMARY;LANGUAGE=de-DE:Weekly planning',
        'DTSTART;TZID=W. Europe Standard Time:20271007T090000',
        'DTEND;TZID=W. Europe Standard Time:20271007T100000',
        'RRULE:FREQ=WEEKLY;UNTIL=20271230T080000Z;INTERVAL=1;BYDAY=TH;WKST=MO',
        'CLASS:PUBLIC',
        'PRIORITY:5',
        'DTSTAMP:20261001T080000Z',
        'TRANSP:OPAQUE',
        'STATUS:CONFIRMED',
        'SEQUENCE:0',
        'LOCATION;LANGUAGE=de-DE:Room 1',
        'X-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE',
        'X-MICROSOFT-CDO-ALLDAYEVENT:FALSE',
        'BEGIN:VALARM',
        'DESCRIPTION:REMINDER',
        'TRIGGER;RELATED=START:-PT15M',
        'ACTION:DISPLAY',
        'END:VALARM',
        'END:VEVENT',
      ].join('\r\n'),
    ),
  Apple: (organizer, attendee, uid) =>
    calendarFile(
      'REQUEST',
      vtimezone('Europe/Berlin'),
      [
        'BEGIN:VEVENT',
        'CREATED:20261001T070000Z',
        'DTEND;TZID=Europe/Berlin:20271007T100000',
        'DTSTAMP:20261001T080000Z',
        'DTSTART;TZID=Europe/Berlin:20271007T090000',
        'LAST-MODIFIED:20261001T070000Z',
        'LOCATION:Room 1',
        `ORGANIZER;CN="Boss";EMAIL="${organizer}":mailto:${organizer}`,
        `ATTENDEE;CN="Agent";CUTYPE=INDIVIDUAL;EMAIL="${attendee}";ROLE=REQ-PARTICIPANT:urn:uuid:1234`,
        'RRULE:FREQ=WEEKLY;COUNT=4',
        'SEQUENCE:0',
        'SUMMARY:Weekly planning',
        `UID:${uid}`,
        'X-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC',
        'END:VEVENT',
      ].join('\r\n'),
    ),
  Zoom: (organizer, attendee, uid) =>
    calendarFile(
      'REQUEST',
      'CALSCALE:GREGORIAN',
      vtimezone(
        'Europe/Berlin',
        'TZURL:http://tzurl.org/zoneinfo-outlook/Europe/Berlin',
        'X-LIC-LOCATION:Europe/Berlin',
      ),
      [
        'BEGIN:VEVENT',
        'DTSTAMP:20261001T080000Z',
        'DTSTART;TZID=Europe/Berlin:20271007T090000',
        'DTEND;TZID=Europe/Berlin:20271007T100000',
        'SUMMARY:Weekly planning',
        `UID:${uid}`,
        'TZID:Europe/Berlin',
        'DESCRIPTION:Boss is inviting you to a scheduled Zoom meeting.\\n\\nJoin Zoom Me',
        ' eting\\nhttps://zoom.example/j/123\\n',
        'LOCATION:Room 1',
        `ORGANIZER;CN=Boss:MAILTO:${organizer}`,
        `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${attendee}`,
        'BEGIN:VALARM',
        'TRIGGER:-PT10M',
        'ACTION:DISPLAY',
        'DESCRIPTION:Reminder',
        'END:VALARM',
        'END:VEVENT',
      ].join('\n'),
    ),
  Nextcloud: (organizer, attendee, uid) =>
    calendarFile(
      'REQUEST',
      vtimezone('Europe/Berlin'),
      [
        'BEGIN:VEVENT',
        'CREATED:20261001T070000Z',
        'DTSTAMP:20261001T080000Z',
        'LAST-MODIFIED:20261001T080000Z',
        'SEQUENCE:2',
        `UID:${uid}`,
        'DTSTART;TZID=Europe/Berlin:20271007T090000',
        'DTEND;TZID=Europe/Berlin:20271007T100000',
        'RRULE:FREQ=WEEKLY;BYDAY=TH',
        'STATUS:CONFIRMED',
        'SUMMARY:Weekly planning',
        'LOCATION:Room 1',
        `ATTENDEE;CN=Agent;CUTYPE=INDIVIDUAL;PARTSTAT=NEEDS-ACTION;ROLE=REQ-PARTICIPANT;RSVP=TRUE;LANGUAGE=de:mailto:${attendee}`,
        `ORGANIZER;CN=Boss:mailto:${organizer}`,
        'END:VEVENT',
        'BEGIN:VEVENT',
        'DTSTAMP:20261001T080000Z',
        'SEQUENCE:3',
        `UID:${uid}`,
        'RECURRENCE-ID;TZID=Europe/Berlin:20271014T090000',
        'DTSTART;TZID=Europe/Berlin:20271014T110000',
        'DTEND;TZID=Europe/Berlin:20271014T120000',
        'SUMMARY:Weekly planning',
        'LOCATION:Room 2',
        `ATTENDEE;CN=Agent;PARTSTAT=NEEDS-ACTION:mailto:${attendee}`,
        `ORGANIZER;CN=Boss:mailto:${organizer}`,
        'END:VEVENT',
      ].join('\r\n'),
    ),
}
