import { matches, type RoutedEvent, type Subscriber } from '../../../src/delivery/rules/matching.ts'

const ORGANIZATION = 'o1'
const POD = 'p1'
const INBOX = 'i1'
const now = new Date()

const everything: Subscriber = {
  organization_id: ORGANIZATION,
  is_filtered: false,
  event_types: ['message.received', 'message.received.spam', 'message.received.blocked', 'domain.verified'],
  pod_ids: [],
  inbox_uids: [],
  visible_labels: ['spam', 'blocked', 'unauthenticated', 'trash'],
  active_since: new Date(now.getTime() - 60_000),
  matching_since: new Date(now.getTime() - 60_000),
  earlier_rules: [],
}
const received: RoutedEvent = {
  type: 'message.received',
  time: now,
  routing: { organizationId: ORGANIZATION, podId: POD, inboxUid: INBOX },
}
const domain: RoutedEvent = {
  type: 'domain.verified',
  time: now,
  routing: { organizationId: ORGANIZATION, podId: POD },
}

describe('matches', () => {
  it.each([
    ['no filter', {}, received, true],
    ['its inbox', { is_filtered: true, inbox_uids: [INBOX] }, received, true],
    ['its pod', { is_filtered: true, pod_ids: [POD] }, received, true],
    ['another inbox', { is_filtered: true, inbox_uids: ['i2'] }, received, false],
    ['another inbox, or its pod', { is_filtered: true, inbox_uids: ['i2'], pod_ids: [POD] }, received, true],
    ['another organization', { organization_id: 'o2' }, received, false],
    ['another type', { event_types: ['message.sent'] }, received, false],
    ['no types: the default set', { event_types: [] }, received, true],
    [
      'no types and mail of a restricted type',
      { event_types: [] },
      { ...received, type: 'message.received.spam' },
      false,
    ],
    ['no types and a calendar event', { event_types: [] }, { ...received, type: 'calendar.event.created' }, false],
    ['the pod of a domain', { is_filtered: true, pod_ids: [POD] }, domain, true],
    ['an inbox filter and a domain event', { is_filtered: true, inbox_uids: [INBOX] }, domain, false],
  ])('with %s', (_what, change, event, expected) => {
    expect(matches({ ...everything, ...change }, event)).toBe(expected)
  })

  it('never widens a webhook that has lost its last id', () => {
    expect(matches({ ...everything, is_filtered: true }, received)).toBe(false)
  })

  it('needs every restricted label of the message', () => {
    const event = {
      ...received,
      type: 'message.received.blocked',
      routing: { ...received.routing, restricted: ['spam', 'blocked'] },
    }
    expect(matches({ ...everything, visible_labels: ['blocked'] }, event)).toBe(false)
    expect(matches({ ...everything, visible_labels: ['spam', 'blocked'] }, event)).toBe(true)
  })

  it('excludes events from before the webhook was active', () => {
    expect(matches({ ...everything, active_since: new Date(now.getTime() + 60_000) }, received)).toBe(false)
  })

  it('takes the rules of the time of the event: those before the first change after it', () => {
    const at = (secondsAgo: number) => new Date(now.getTime() - secondsAgo * 1_000)
    const rules = (...event_types: string[]) => ({ ...everything, event_types })
    const until = (secondsAgo: number, ...event_types: string[]) => ({
      ...rules(...event_types),
      until: at(secondsAgo).toISOString(),
    })
    const webhook = {
      ...rules('message.sent'),
      active_since: at(60),
      matching_since: at(10),
      earlier_rules: [until(10, 'message.received'), until(20, 'message.sent'), until(30, 'message.received')],
    }
    const isMatched = (type: string, secondsAgo: number) =>
      matches(webhook, { ...received, type, time: at(secondsAgo) })
    for (const [secondsAgo, type, other] of [
      [5, 'message.sent', 'message.received'],
      [15, 'message.received', 'message.sent'],
      [25, 'message.sent', 'message.received'],
      [40, 'message.received', 'message.sent'],
    ] as const) {
      expect([secondsAgo, isMatched(type, secondsAgo), isMatched(other, secondsAgo)]).toEqual([secondsAgo, true, false])
    }
    expect(matches({ ...webhook, earlier_rules: [] }, { ...received, type: 'message.sent', time: at(40) })).toBe(true)
  })
})
