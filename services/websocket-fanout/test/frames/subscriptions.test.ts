import type { EventType } from '@restante/contracts/access'
import { type StreamEvent, Subscriptions } from '../../src/subscriptions/subscriptions.ts'

const INBOX = '00000000-0000-4000-8000-000000000001'
const OTHER_INBOX = '00000000-0000-4000-8000-000000000002'
const POD = '00000000-0000-4000-8000-000000000010'
const received: StreamEvent = { type: 'message.received', podId: POD, inboxUid: INBOX, restricted: [] }
const spam: StreamEvent = { ...received, type: 'message.received.spam', restricted: ['spam'] }
const verified: StreamEvent = { type: 'domain.verified', podId: undefined, inboxUid: undefined, restricted: [] }
const starting: StreamEvent = { ...received, type: 'calendar.event.starting' }
/** Positions of the log: subscribed at 0, events come later. */
const LIVE = { subscribedAt: 0n, after: 0n }
const unrestricted = { permissions: undefined, app_connect: false }

describe('Subscriptions', () => {
  it('gets nothing before the first subscribe', () => {
    expect(new Subscriptions(unrestricted).matches(received, 1n)).toBe(false)
  })

  it.each([
    ['the whole scope', [{ kind: 'all' as const }], true],
    ['the inbox', [{ kind: 'inbox' as const, inboxUid: INBOX }], true],
    ['its pod', [{ kind: 'pod' as const, podId: POD }], true],
    ['another inbox', [{ kind: 'inbox' as const, inboxUid: OTHER_INBOX }], false],
    [
      'another inbox and the pod',
      [
        { kind: 'inbox' as const, inboxUid: OTHER_INBOX },
        { kind: 'pod' as const, podId: POD },
      ],
      true,
    ],
  ])('matches by %s', (_what, scopes, expected) => {
    const subscriptions = new Subscriptions(unrestricted)
    subscriptions.add(scopes, undefined, LIVE)
    expect(subscriptions.matches(received, 1n)).toBe(expected)
  })

  it('replaces the type filter of a scope that is named again', () => {
    const subscriptions = new Subscriptions(unrestricted)
    subscriptions.add([{ kind: 'inbox', inboxUid: INBOX }], ['message.received'], LIVE)
    subscriptions.add([{ kind: 'inbox', inboxUid: INBOX }], ['message.sent'], LIVE)
    expect(subscriptions.matches(received, 1n)).toBe(false)
    expect(subscriptions.matches({ ...received, type: 'message.sent' }, 1n)).toBe(true)
  })

  it('keeps the other scopes when one is ended, and ignores unknown ones', () => {
    const subscriptions = new Subscriptions(unrestricted)
    subscriptions.add([{ kind: 'all' }], undefined, LIVE)
    subscriptions.add([{ kind: 'inbox', inboxUid: INBOX }], undefined, LIVE)
    subscriptions.remove([{ kind: 'all' }, { kind: 'pod', podId: POD }], 0n)
    expect(subscriptions.matches(received, 1n)).toBe(true)
    expect(subscriptions.matches(verified, 1n)).toBe(false)
  })

  it.each([
    ['all permissions', undefined, received, true],
    ['message_read', ['message_read'], received, true],
    ['message_read', ['message_read'], spam, false],
    ['message_read and label_spam_read', ['message_read', 'label_spam_read'], spam, false],
    ['all permissions', undefined, spam, false],
    ['nothing', [], received, false],
    ['nothing', [], verified, true],
  ])('a bare subscription of a key with %s', (_what, permissions, event, expected) => {
    const subscriptions = new Subscriptions({ permissions, app_connect: false })
    subscriptions.add([{ kind: 'all' }], undefined, LIVE)
    expect(subscriptions.matches(event, 1n)).toBe(expected)
  })

  it.each<[string, string[] | undefined, boolean]>([
    ['all permissions', undefined, true],
    ['message_read and label_spam_read', ['message_read', 'label_spam_read'], true],
    ['label_spam_read alone', ['label_spam_read'], false],
  ])('a subscription that names spam, of a key with %s', (_what, permissions, expected) => {
    const subscriptions = new Subscriptions({ permissions, app_connect: false })
    const types: EventType[] = ['message.received.spam']
    subscriptions.add([{ kind: 'all' }], types, LIVE)
    expect(subscriptions.matches(spam, 1n)).toBe(expected)
  })

  it('requires the permissions for every restricted label of a message, not just for its type', () => {
    const subscriptions = new Subscriptions({
      permissions: ['message_read', 'label_blocked_read'],
      app_connect: false,
    })
    subscriptions.add([{ kind: 'all' }], ['message.received.blocked'], LIVE)
    const both = { ...received, type: 'message.received.blocked', restricted: ['spam', 'blocked'] }
    expect(subscriptions.matches(both, 1n)).toBe(false)
    expect(subscriptions.matches({ ...both, restricted: ['blocked'] }, 1n)).toBe(true)
  })

  it('delivers calendar events only when they are named', () => {
    const subscriptions = new Subscriptions(unrestricted)
    subscriptions.add([{ kind: 'all' }], undefined, LIVE)
    expect(subscriptions.matches(starting, 1n)).toBe(false)
    subscriptions.add([{ kind: 'all' }], ['calendar.event.starting'], LIVE)
    expect(subscriptions.matches(starting, 1n)).toBe(true)
  })

  it('accepts 100 subscriptions, refuses the next, and lets an existing one be replaced', () => {
    const subscriptions = new Subscriptions(unrestricted)
    const inboxes = Array.from({ length: 100 }, (_, index) => ({ kind: 'inbox' as const, inboxUid: String(index) }))
    subscriptions.add(inboxes, undefined, LIVE)
    expect(() => subscriptions.add([{ kind: 'all' }], undefined, LIVE)).toThrow('at most 100')
    expect(subscriptions.matches(received, 1n)).toBe(false)
    expect(() => subscriptions.add(inboxes.slice(0, 1), ['message.sent'], LIVE)).not.toThrow()
  })
})
