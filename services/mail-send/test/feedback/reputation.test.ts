import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import { countedIn, countedOutside, ratesOf } from '@restante/contracts/events'
import { createLogger } from '@restante/service/telemetry'
import { countRows, type PeerAnswer, queryRows, waitFor } from '@restante/testkit'
import { reputationFindings } from '../../src/reputation/reputation.ts'
import { findingOf } from '../../src/reputation/thresholds.ts'
import { Sweeper } from '../../src/retention/sweeper.ts'
import { DOMAIN, type Fixture, factOf, inboxCaller, startWorld } from '../support/fixture.ts'

type SendingCaller = ReturnType<typeof inboxCaller>

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld({ REPUTATION_EVERY: '50ms' })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())
beforeEach(() => {
  fixture.peers.answers['gateway.suspendOrganization'] = async () => ({ outcome: 'suspended' })
})

async function send(caller: SendingCaller, ...answers: PeerAnswer[]): Promise<string> {
  const to = answers.map((answer) => {
    const address = `ann-${randomUUID()}@outside.example`
    fixture.outside.answerRecipient(address, answer)
    return address
  })
  const { body } = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'x' } })
  return String(body['message_id'])
}

/** What is counted of an organization, as after a day of mail. */
async function sent({ organization_id }: SendingCaller, [sent, bounced, complained]: number[], hoursAgo = 0) {
  await queryRows(
    fixture.db,
    `insert into reputation_counts (organization_id, hour, slot, sent, bounced, complained)
     values ($1, date_trunc('hour', now()) - make_interval(hours => $5::int), 9, $2, $3, $4)`,
    organization_id,
    sent,
    bounced,
    complained,
    hoursAgo,
  )
}

async function countsOf({ organization_id }: SendingCaller) {
  const [row] = await queryRows<{ sent: number; bounced: number; complained: number }>(
    fixture.db,
    `select coalesce(sum(sent), 0)::int as sent, coalesce(sum(bounced), 0)::int as bounced,
            coalesce(sum(complained), 0)::int as complained
       from reputation_counts where organization_id = $1`,
    organization_id,
  )
  return row
}

const requestsFor = ({ organization_id: id }: SendingCaller) =>
  fixture.peers.requests('gateway.suspendOrganization').filter(({ organization_id }) => organization_id === id)

function suspensionOf(caller: SendingCaller) {
  return waitFor(() => requestsFor(caller)[0], { what: 'a suspension' })
}

/** Waits until another organization, whose rates are too high, was looked at twice. */
async function twoLooks(): Promise<void> {
  const marker = inboxCaller()
  await sent(marker, [1_000, 1_000, 0])
  await waitFor(() => (requestsFor(marker).length > 2 ? true : undefined), { what: 'two looks' })
}

async function found(consequence: string, rate: string): Promise<number> {
  const { values } = await reputationFindings.get()
  return values.find(({ labels }) => labels.consequence === consequence && labels.rate === rate)?.value ?? 0
}

describe('what is counted for the reputation of an organization', () => {
  it('is each recipient of mail that left, and each who does not exist, and no other failure', async () => {
    const caller = inboxCaller()
    const answers: PeerAnswer[] = [
      'accept',
      'accept',
      '550 5.1.1 nobody',
      '552 5.2.2 mailbox full',
      '550 5.7.1 refused',
    ]
    const messageId = await send(caller, ...answers)
    await waitFor(
      async () =>
        (await countRows(
          fixture.db,
          "deliveries d join sends s on s.id = d.send_id where s.message_id = $1 and d.state in ('delivered', 'bounced')",
          messageId,
        )) === 5
          ? true
          : undefined,
      { what: 'five outcomes' },
    )
    expect(await countsOf(caller)).toEqual({ sent: 5, bounced: 1, complained: 0 })
  })

  it('is counted once when the process dies and begins again', async () => {
    const caller = inboxCaller()
    const ids = await Promise.all(Array.from({ length: 10 }, () => send(caller, '550 5.1.1 nobody')))
    await fixture.restart()
    for (const id of ids) await factOf(fixture, id, 'delivery.bounced')
    expect(await countsOf(caller)).toEqual({ sent: 10, bounced: 10, complained: 0 })
  })

  it('is no mail to inboxes of the installation', async () => {
    const inside = inboxCaller()
    fixture.peers.answers['gateway.resolveRecipients'] = async ({ addresses }) => ({
      recipients: addresses.map((given) => ({ status: 'unknown', given })),
    })
    const body = { to: `nobody-${randomUUID()}@${DOMAIN}`, text: 'words' }
    const answer = await fixture.call('messages.send', inside, { path: '/messages/send', body })
    await factOf(fixture, answer.body['message_id'], 'delivery.bounced')
    expect(await countsOf(inside)).toEqual({ sent: 0, bounced: 0, complained: 0 })
  })

  it('is deleted after a day, with what was found', async () => {
    const caller = inboxCaller()
    await sent(caller, [5, 0, 0], 26)
    await sent(caller, [7, 0, 0], 23)
    const { organization_id: id } = caller
    await queryRows(fixture.db, "insert into reputations values ($1, now() - interval '26 hours', null)", id)
    const blobs = await openBlobStore(fixture.config.blobStore)
    await new Sweeper({ db: fixture.db, blobs, log: createLogger({ service: 'test', level: 'silent' }) }).sweep()
    expect(await countsOf(caller)).toMatchObject({ sent: 7 })
    expect(await countRows(fixture.db, 'reputations where organization_id = $1', id)).toBe(0)
  })
})

describe('an organization whose mail comes back', () => {
  it.each([
    ['a tenth of a thousand bounces', [1_000, 100, 0]],
    ['a hundredth of a thousand complains', [1_000, 0, 10]],
  ])('is suspended when %s', async (_what, counts) => {
    const caller = inboxCaller()
    await sent(caller, counts)
    const { counted_since } = await suspensionOf(caller)
    expect(Math.abs(Date.parse(counted_since) + 24 * 3_600_000 - Date.now())).toBeLessThan(60_000)
  })

  it.each([
    ['fewer than a thousand were sent', [999, 999, 0], 0],
    ['the rates are below the thresholds', [10_000, 499, 49], 0],
    ['it was more than a day ago', [1_000, 1_000, 1_000], 25],
  ])('is left alone when %s', async (_what, counts, hoursAgo) => {
    const caller = inboxCaller()
    await sent(caller, counts, hoursAgo)
    await twoLooks()
    expect(requestsFor(caller)).toEqual([])
    expect(await countRows(fixture.db, 'reputations where organization_id = $1', caller.organization_id)).toBe(0)
  })

  it('is warned about once a day between the thresholds', async () => {
    const before = await found('warn', 'bounce')
    const caller = inboxCaller()
    await sent(caller, [1_000, 50, 5])
    await twoLooks()
    expect(requestsFor(caller)).toEqual([])
    expect((await found('warn', 'bounce')) - before).toBe(1)
  })

  it('is suspended when the gateway answers again, and reported once', async () => {
    let outcome: 503 | 'suspended' | 'suspended_before' = 503
    const caller = inboxCaller()
    fixture.peers.answers['gateway.suspendOrganization'] = async ({ organization_id }) => {
      if (organization_id !== caller.organization_id) return { outcome: 'suspended_before' }
      const now = outcome
      if (now === 503) return now
      outcome = 'suspended_before'
      return { outcome: now }
    }
    // Nothing more is found of other tests once the looks that had begun have ended.
    await twoLooks()
    const before = await found('suspend', 'complaint')
    await sent(caller, [2_000, 0, 20])
    await suspensionOf(caller)
    await twoLooks()
    expect((await found('suspend', 'complaint')) - before).toBe(0)
    outcome = 'suspended'
    await twoLooks()
    expect((await found('suspend', 'complaint')) - before).toBe(1)
  })

  it('is counted anew from when the operator resumed it', async () => {
    const resumed_at = new Date(Date.now() - 1_000).toISOString()
    const caller = inboxCaller()
    fixture.peers.answers['gateway.suspendOrganization'] = async ({ organization_id, counted_since }) =>
      organization_id === caller.organization_id && Date.parse(resumed_at) > Date.parse(counted_since)
        ? { outcome: 'resumed', resumed_at }
        : { outcome: 'suspended' }
    await sent(caller, [1_000, 500, 0])
    await waitFor(async () => ((await countsOf(caller))?.sent === 0 ? true : undefined), { what: 'the reset' })
    await twoLooks()
    expect(requestsFor(caller)).toHaveLength(1)
    await sent(caller, [1_000, 500, 0])
    const again = await waitFor(() => requestsFor(caller)[1], { what: 'another suspension' })
    expect(again.counted_since).toBe(resumed_at)
  })
})

describe('the definition of the rates', () => {
  const about = {
    organization_id: randomUUID(),
    pod_id: randomUUID(),
    inbox_uid: randomUUID(),
    thread_id: randomUUID(),
  }
  const facts = { ...about, message_id: '<1@a.test>', timestamp: new Date().toISOString(), recipients: ['a@b.test'] }

  it('leaves out addresses of the installation, and counts what bounced without leaving', () => {
    const handedOver = {
      type: 'delivery.handed_over',
      payload: { ...facts, recipients: ['a@b.test', 'c@here.test', 'd@here.test'], inside: 2 },
    } as Parameters<typeof countedOutside>[0]
    expect([countedIn, countedOutside].map((count) => count(handedOver).sent)).toEqual([3, 1])
    const bounced = {
      type: 'delivery.bounced',
      payload: { ...facts, type: 'Permanent', sub_type: 'NoEmail', inside: true },
    } as Parameters<typeof countedOutside>[0]
    expect([countedIn, countedOutside].map((count) => count(bounced).bounced)).toEqual([1, 0])
    expect(ratesOf({ sent: 0, bounced: 50, complained: 0 })).toEqual({ bounce: 1, complaint: 0 })
  })

  it('leaves out reports that anyone could have written', () => {
    const bounced = { ...facts, type: 'Permanent', sub_type: 'NoEmail' } as const
    const complained = { ...facts, type: 'abuse', sub_type: 'abuse' }
    const counted = (type: 'delivery.bounced' | 'delivery.complained', payload: object) =>
      countedIn({ type, payload } as Parameters<typeof countedIn>[0])
    expect(counted('delivery.bounced', bounced)).toEqual({ sent: 0, bounced: 1, complained: 0 })
    expect(counted('delivery.complained', complained)).toEqual({ sent: 0, bounced: 0, complained: 1 })
    expect(counted('delivery.bounced', { ...bounced, unproven: true }).bounced).toBe(0)
    expect(counted('delivery.complained', { ...complained, unproven: true }).complained).toBe(0)
  })

  it('has no rate of nothing, and prefers the gravest finding', () => {
    expect(ratesOf({ sent: 0, bounced: 0, complained: 0 })).toEqual({ bounce: null, complaint: null })
    const thresholds = { bounce: { warn: 0.05, suspend: 0.1 }, complaint: { warn: 0.005, suspend: 0.01 } }
    expect(findingOf(thresholds, { sent: 1_000, bounced: 60, complained: 10 })).toEqual({
      consequence: 'suspend',
      rate: 'complaint',
      value: 0.01,
    })
    expect(findingOf(thresholds, { sent: 1_000, bounced: 49, complained: 4 })).toBeUndefined()
  })
})
