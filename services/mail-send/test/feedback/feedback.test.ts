import { randomUUID } from 'node:crypto'
import type { EventOf, topics } from '@restante/contracts/events'
import { Outbox } from '@restante/messaging'
import { deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { ReturnPath } from '@restante/mime'
import { sql } from '@restante/service/database'
import { countRows, queryRows } from '@restante/testkit'
import { unsubscribeLink } from '../../src/delivery/open-delivery.ts'
import { feedbackConsumer } from '../../src/feedback/consumers.ts'
import { type BounceReported, Reports } from '../../src/feedback/reports.ts'
import { Unsubscribing } from '../../src/unsubscribe/unsubscribing.ts'
import { DOMAIN, type Fixture, factOf, inboxCaller, startWorld } from '../support/fixture.ts'

type FeedbackEvent = EventOf<(typeof topics)['mail.feedback']>

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

interface Sent {
  readonly caller: ReturnType<typeof inboxCaller>
  readonly messageId: string
  readonly to: string
  readonly deliveryId: string
}

async function delivered(
  caller = inboxCaller(),
  to = `Ann-${randomUUID().slice(0, 8)}@outside.example`,
): Promise<Sent> {
  const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to } })
  const messageId = String(answer.body['message_id'])
  await factOf(fixture, messageId, 'delivery.delivered')
  const mail = fixture.outside.mailsTo(to).at(-1)
  const deliveryId = new ReturnPath(fixture.config.returnPath).deliveryOf(mail?.mailFrom ?? '') ?? ''
  return { caller, messageId, to, deliveryId }
}

function head(sent: Sent) {
  const { caller, messageId } = sent
  return {
    id: randomUUID(),
    subject: messageId,
    key: messageId,
    time: new Date(),
    routing: { organizationId: caller.organization_id },
  }
}

type Report = Extract<FeedbackEvent, { type: 'bounce.reported' }>['payload']['recipients'][number]

/** Where a report comes from; mail of these tests goes to 127.0.0.1. */
type Origin = Pick<BounceReported['payload'], 'peer' | 'authenticated'>
const THERE: Origin = { peer: '127.0.0.7' }

function bounce(sent: Sent, recipient: Report | Report[], origin = THERE): FeedbackEvent {
  const received_at = new Date().toISOString()
  const payload = { delivery_id: sent.deliveryId, received_at, ...origin, recipients: [recipient].flat() }
  return { ...head(sent), type: 'bounce.reported', payload }
}

function complaint(sent: Sent, feedback_type: string, origin = THERE): FeedbackEvent {
  const received_at = new Date().toISOString()
  const payload = { delivery_id: sent.deliveryId, received_at, ...origin, feedback_type, recipients: [] }
  return { ...head(sent), type: 'complaint.reported', payload }
}

function consumer() {
  const { db } = fixture
  const { kafka } = fixture.topics
  const outbox = new Outbox({ db, service: 'mail-send' })
  const unsubscribing = new Unsubscribing({ db, outbox, link: unsubscribeLink(fixture.config) })
  return feedbackConsumer({ kafka, db, reports: new Reports(outbox), unsubscribing })
}

function deliver(...events: FeedbackEvent[]): Promise<void> {
  return deliverTwiceAndSwapped(consumer(), ...events)
}

/** Two hops that gave up for different reasons, one that only reports a delay, and a complaint. */
function reportsOn(sent: Sent): FeedbackEvent[] {
  return [
    bounce(sent, { action: 'delayed', status: '4.4.1' }),
    bounce(sent, { action: 'failed', status: '5.2.2', diagnostic: '552 5.2.2 full' }),
    bounce(sent, { action: 'failed', status: '5.1.1', diagnostic: '550 5.1.1 unknown' }),
    bounce(sent, { action: 'failed', status: '5.0.0', diagnostic: '550 forged' }, { peer: '192.0.2.1' }),
    complaint(sent, 'fraud', {}),
    complaint(sent, 'abuse'),
  ]
}

const PUBLISHED = sql<{ type: string }, [messageId: string]>(
  'select type from outbox where subject = $1 order by position',
)

/** Everything that reports change. */
async function deliveryOf(id: string) {
  const text = 'select state, status, diagnostic, complained_at is not null as complained from deliveries where id = $1'
  return (await queryRows<{ state: string; complained: boolean }>(fixture.db, text, id))[0]
}

async function stateOf(sent: Sent) {
  return {
    delivery: await deliveryOf(sent.deliveryId),
    suppressed: (await suppressions(sent)).map(({ reason }) => reason),
    published: (await published(sent)).toSorted(),
  }
}

/** The types of all events about a message that are committed, whether they have reached Kafka or not. */
const published = async ({ messageId }: Sent) => (await fixture.db.query(PUBLISHED, messageId)).map(({ type }) => type)
/** Those after its delivery. */
const later = async (sent: Sent) => (await published(sent)).slice(3)
const suppressions = ({ caller }: Sent) =>
  queryRows<{ address: string; reason: string }>(
    fixture.db,
    'select entry as address, reason from list_entries where organization_id = $1 and read_only',
    caller.organization_id,
  )

describe('reports that arrive later', () => {
  it('bounce a delivered message once, however often and in whatever order they come', async () => {
    const sent = await delivered()
    const first = bounce(sent, { action: 'failed', status: '5.1.1', diagnostic: '550 5.1.1 unknown' })
    await deliver(first, bounce(sent, { action: 'failed', status: '5.1.1' }))
    const { payload } = await factOf(fixture, sent.messageId, 'delivery.bounced')
    expect(payload).toMatchObject({ type: 'Permanent', sub_type: 'NoEmail', recipients: [sent.to] })
    expect(await later(sent)).toEqual(['delivery.bounced'])
    expect(await suppressions(sent)).toMatchObject([{ address: sent.to.toLowerCase(), reason: 'bounced' }])
    expect(await deliveryOf(sent.deliveryId)).toMatchObject({ state: 'bounced' })
  })

  it('lead to the same state in any order and number', async () => {
    const inOrder = await delivered()
    for (const event of reportsOn(inOrder)) await deliver(event)
    const expected = await stateOf(inOrder)
    expect(expected.published).toEqual(expect.arrayContaining(['delivery.bounced', 'delivery.complained']))
    for (let seed = 1; seed <= 12; seed++) {
      const sent = await delivered()
      await deliverShuffled(consumer(), seed, ...reportsOn(sent))
      expect({ seed, ...(await stateOf(sent)) }).toEqual({ seed, ...expected })
    }
  })

  it.each([
    [{ action: 'failed', diagnostic: '552 5.2.2 full' }, 'Transient', 'MailboxFull', 0],
    [{ action: 'failed', diagnostic: '550 no such user' }, 'Permanent', 'NoEmail', 1],
    [{ action: 'failed', diagnostic: '550 refused' }, 'Permanent', 'General', 0],
    [
      { action: 'failed', status: '5.1.1', diagnostic: '550 listed at zen.spamhaus.org' },
      'Transient',
      'ContentRejected',
      0,
    ],
    [{ action: 'failed', status: '4.4.7' }, 'Transient', 'General', 0],
    [{ action: 'failed' }, 'Undetermined', 'Undetermined', 0],
  ] as const)('classify %j as %s %s', async (recipient, type, sub_type, suppressed) => {
    const sent = await delivered()
    await deliver(bounce(sent, recipient))
    expect((await factOf(fixture, sent.messageId, 'delivery.bounced')).payload).toMatchObject({ type, sub_type })
    expect(await suppressions(sent)).toHaveLength(suppressed)
  })

  it('mean the recipient of the delivery where they name it, and otherwise the first address that failed', async () => {
    const gone = { address: 'other@outside.example', action: 'failed', status: '5.1.1' } as const
    const [full, expanded] = [await delivered(), await delivered()]
    await deliver(bounce(full, [gone, { address: full.to.toUpperCase(), action: 'failed', status: '5.2.2' }]))
    await deliver(bounce(expanded, [{ action: 'relayed' }, gone]))
    expect((await factOf(fixture, full.messageId, 'delivery.bounced')).payload).toMatchObject({
      sub_type: 'MailboxFull',
    })
    expect(await suppressions(full)).toEqual([])
    expect((await factOf(fixture, expanded.messageId, 'delivery.bounced')).payload).toMatchObject({
      sub_type: 'NoEmail',
    })
    const fine = await delivered()
    await deliver(bounce(fine, [gone, { address: fine.to, action: 'delivered', status: '2.0.0' }]))
    expect(await deliveryOf(fine.deliveryId)).toMatchObject({ state: 'delivered' })
  })

  it('count as one complaint, and suppress the address', async () => {
    const sent = await delivered()
    await deliver(complaint(sent, 'abuse'), complaint(sent, 'abuse'))
    const { payload } = await factOf(fixture, sent.messageId, 'delivery.complained')
    expect(payload).toMatchObject({ type: 'abuse', sub_type: 'spam', recipients: [sent.to] })
    expect(await later(sent)).toEqual(['delivery.complained'])
    expect(await suppressions(sent)).toMatchObject([{ reason: 'complained' }])
  })

  it('count both as bounce and complaint, in either order', async () => {
    const sent = await delivered()
    await deliver(bounce(sent, { action: 'failed', status: '5.0.0' }), complaint(sent, 'fraud'))
    await factOf(fixture, sent.messageId, 'delivery.bounced')
    await factOf(fixture, sent.messageId, 'delivery.complained')
    expect((await later(sent)).toSorted()).toEqual(['delivery.bounced', 'delivery.complained'])
    expect(await suppressions(sent)).toHaveLength(1)
  })

  it('change nothing when they report delays, relays, mail that is not spam, or an unknown delivery', async () => {
    const sent = await delivered()
    await deliver(
      bounce(sent, { action: 'delayed', status: '4.4.1' }),
      bounce(sent, { action: 'relayed' }),
      complaint(sent, 'not-spam'),
      bounce({ ...sent, deliveryId: randomUUID() }, { action: 'failed', status: '5.1.1' }),
    )
    expect(await suppressions(sent)).toEqual([])
    expect(await countRows(fixture.db, 'outbox where subject = $1', sent.messageId)).toBe(3)
  })
})

describe('refusals without a specific reason', () => {
  const refused = { action: 'failed', status: '5.0.0', diagnostic: '550 refused' } as const
  const age = (sent: Sent, days: number) =>
    queryRows(
      fixture.db,
      `update refusals set refused_at = now() - interval '${days} days' where organization_id = $1 returning 1`,
      sent.caller.organization_id,
    )

  it('suppress the address when a second message is refused, and only then', async () => {
    const first = await delivered()
    await deliver(bounce(first, refused), bounce(first, refused))
    expect(await suppressions(first)).toEqual([])
    const stranger = await delivered(inboxCaller(), first.to)
    await deliver(bounce(stranger, refused))
    expect(await suppressions(stranger)).toEqual([])
    const second = await delivered(first.caller, first.to)
    await deliver(bounce(second, refused))
    expect(await suppressions(second)).toMatchObject([{ address: first.to.toLowerCase(), reason: 'bounced' }])
  })

  it.each([
    [29, 1],
    [31, 0],
  ])('of %i days ago lead to %i entries', async (days, entries) => {
    const first = await delivered()
    await deliver(bounce(first, refused))
    expect(await age(first, days)).toHaveLength(1)
    await deliver(bounce(await delivered(first.caller, first.to), refused))
    expect(await suppressions(first)).toHaveLength(entries)
  })

  it('do not count when anybody could have written them', async () => {
    const first = await delivered()
    await deliver(bounce(first, refused, {}))
    await deliver(bounce(await delivered(first.caller, first.to), refused))
    expect(await suppressions(first)).toEqual([])
  })
})

describe('a report from another origin', () => {
  const gone = { action: 'failed', status: '5.1.1', diagnostic: '550 5.1.1 unknown' } as const

  it.each([
    ['from nowhere that is known', {}, 0],
    ['from another network', { peer: '192.0.2.1' }, 0],
    ['authenticated for a stranger', { peer: '192.0.2.1', authenticated: ['outside.example.test', 'example'] }, 0],
    ['from the network that the mail went to', { peer: '::ffff:127.0.0.200' }, 1],
    ['authenticated for the domain of the recipient', { authenticated: ['Bounces.Outside.example'] }, 1],
    ['authenticated for the domain of its server', { authenticated: ['x.test', 'eu.outside.test'] }, 1],
  ])('%s (%j) bounces the message and makes %i entries', async (_, origin, entries) => {
    const sent = await delivered()
    await deliver(bounce(sent, gone, origin))
    await factOf(fixture, sent.messageId, 'delivery.bounced')
    expect(await suppressions(sent)).toHaveLength(entries)
    const other = await delivered()
    await deliver(complaint(other, 'abuse', origin))
    await factOf(fixture, other.messageId, 'delivery.complained')
    expect(await suppressions(other)).toHaveLength(entries)
  })

  it('leads to a suppression once a report follows from where the mail was delivered', async () => {
    const sent = await delivered()
    await deliver(bounce(sent, gone, {}), complaint(sent, 'abuse', {}))
    expect(await suppressions(sent)).toEqual([])
    await deliver(bounce(sent, gone))
    expect(await suppressions(sent)).toMatchObject([{ reason: 'bounced' }])
    await factOf(fixture, sent.messageId, 'delivery.bounced')
    await factOf(fixture, sent.messageId, 'delivery.complained')
    expect((await later(sent)).toSorted()).toEqual(['delivery.bounced', 'delivery.complained'])
  })

  it('changes nothing when the mail was handed over internally', async () => {
    const caller = inboxCaller()
    const to = `bo@${DOMAIN}`
    const scope = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
    fixture.peers.answers['gateway.resolveRecipients'] = async ({ addresses }) => ({
      recipients: addresses.map((given) => ({ status: 'deliver', given, ...scope, address: to })),
    })
    fixture.peers.answers['mail-ingest.acceptInbound'] = async () => ({ outcome: 'accepted' })
    const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to } })
    const messageId = String(answer.body['message_id'])
    await factOf(fixture, messageId, 'delivery.delivered')
    const text = 'select d.id from deliveries d join sends s on s.id = d.send_id where s.message_id = $1'
    const [{ id: deliveryId } = { id: '' }] = await queryRows<{ id: string }>(fixture.db, text, messageId)
    const sent = { caller, messageId, to, deliveryId }
    await deliver(bounce(sent, gone), complaint(sent, 'abuse', { authenticated: [DOMAIN] }))
    expect(await suppressions(sent)).toEqual([])
    expect(await deliveryOf(deliveryId)).toMatchObject({ state: 'delivered', complained: false })
    expect(await later(sent)).toEqual([])
  })
})

describe('the reputation of an organization', () => {
  const counted = async ({ organization_id: id }: Sent['caller']) =>
    queryRows(
      fixture.db,
      `select sum(sent)::int as sent, sum(bounced)::int as bounced, sum(complained)::int as complained
         from reputation_counts where organization_id = $1`,
      id,
    )

  it('counts each reported delivery once, and no report that anyone could have written', async () => {
    const first = await delivered()
    const { caller } = first
    const others = [await delivered(caller), await delivered(caller), await delivered(caller)]
    const failure: Report = { action: 'failed', status: '5.1.1', diagnostic: '550 5.1.1 unknown' }
    const forged = { peer: '192.0.2.1' }
    const [second = first, third = first, fourth = first] = others
    await deliver(bounce(first, failure), bounce(first, failure))
    await deliver(bounce(second, failure, forged))
    await deliver(complaint(third, 'abuse'), complaint(third, 'fraud'))
    await deliver(complaint(fourth, 'abuse', forged))
    expect(await counted(caller)).toEqual([{ sent: 4, bounced: 1, complained: 1 }])
  })
})
