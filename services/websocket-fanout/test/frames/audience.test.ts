import { Audience } from '../../src/subscriptions/audience.ts'
import { keyOf, type StreamEvent } from '../../src/subscriptions/subscriptions.ts'

const ALL = keyOf({ kind: 'all' })
const pod = (podId: string) => keyOf({ kind: 'pod', podId })
const inbox = (inboxUid: string) => keyOf({ kind: 'inbox', inboxUid })
const event: StreamEvent = { type: 'message.received', podId: 'p', inboxUid: 'i', restricted: [] }

describe('an audience', () => {
  it('has everyone with a scope of the event, each once, and nobody else', () => {
    const audience = new Audience<string>()
    audience.set('everything', [ALL])
    audience.set('its pod', [pod('p'), pod('q')])
    audience.set('its inbox', [inbox('i')])
    audience.set('both', [inbox('i'), pod('p'), ALL])
    audience.set('another inbox', [inbox('j')])
    audience.set('nothing', [])
    expect([...audience.of(event)].sort()).toEqual(['both', 'everything', 'its inbox', 'its pod'])
    expect([...audience.of({ ...event, inboxUid: undefined })].sort()).toEqual(['both', 'everything', 'its pod'])
    expect([...audience.of({ ...event, podId: undefined, inboxUid: undefined })].sort()).toEqual(['both', 'everything'])
  })

  it('follows changed subscriptions, and forgets who has left', () => {
    const audience = new Audience<string>()
    audience.set('one', [inbox('i')])
    audience.set('two', [inbox('i')])
    audience.set('one', [inbox('j')])
    expect([...audience.of(event)]).toEqual(['two'])
    audience.remove('two')
    audience.remove('unknown')
    expect([...audience.of(event)]).toEqual([])
    expect([...audience.of({ ...event, inboxUid: 'j' })]).toEqual(['one'])
  })
})
