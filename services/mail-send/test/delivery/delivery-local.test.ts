import { randomUUID } from 'node:crypto'
import type { InternalResponseOf } from '@restante/contracts/internal'
import { ReturnPath } from '@restante/mime'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { DOMAIN, type Fixture, factOf, factsAbout, inboxCaller, startWorld } from '../support/fixture.ts'

type Recipient = InternalResponseOf<'gateway.resolveRecipients'>['recipients'][number]

let fixture: Fixture

beforeAll(async () => {
  fixture = await startWorld()
})
afterAll(() => fixture.stop())

/** Inboxes hosted here, by local part; every other name of the domain is unknown. */
function hosts(...names: string[]): Map<string, Recipient> {
  const known = new Map(
    names.map((name): [string, Recipient] => {
      const address = `${name}@${DOMAIN}`
      const scope = { organization_id: randomUUID(), pod_id: randomUUID(), inbox_uid: randomUUID() }
      return [address, { status: name.startsWith('paused') ? 'paused' : 'deliver', given: address, address, ...scope }]
    }),
  )
  fixture.peers.answers = {
    'mail-ingest.placeSent': async () => ({}),
    'mail-ingest.acceptInbound': async () => ({ outcome: 'accepted' }),
    'gateway.resolveRecipients': async ({ addresses }) => ({
      recipients: addresses.map((given) => known.get(given) ?? { status: 'unknown', given }),
    }),
  }
  return known
}

async function send(body: Record<string, unknown>): Promise<string> {
  const answer = await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body })
  expect(answer.status).toBe(200)
  return String(answer.body['message_id'])
}

const name = (kind: string) => `${kind}-${randomUUID().slice(0, 8)}`

describe('delivery to inboxes hosted here', () => {
  it('hands over the stored bytes, with a return path of its own, and without SMTP', async () => {
    const local = name('ann')
    const [inbox] = hosts(local).values()
    const id = await send({ to: `${local}@${DOMAIN.toUpperCase()}`, text: 'inside' })
    await factOf(fixture, id, 'delivery.delivered')
    expect(factsAbout(fixture, id).map(({ type }) => type)).toEqual([
      'message.accepted',
      'delivery.handed_over',
      'delivery.delivered',
    ])
    const [handedOver] = fixture.peers
      .requests('mail-ingest.acceptInbound')
      .filter(({ recipient }) => recipient.startsWith(local))
    const accepted = await factOf(fixture, id, 'message.accepted')
    const { inbox_uid, pod_id, organization_id } = inbox?.status === 'deliver' ? inbox : {}
    expect(handedOver).toMatchObject({ inbox_uid, pod_id, organization_id, blob: accepted.payload['blob'] })
    const paths = new ReturnPath(fixture.config.returnPath)
    expect(paths.deliveryOf(handedOver?.mail_from ?? '')).toBe(handedOver?.delivery_id)
    expect(fixture.outside.mails).toEqual([])
  })

  it('bounces for an unknown name, delivers to the others, and does not reveal a paused one', async () => {
    const [ann, paused, unknown] = [name('ann'), name('paused'), name('unknown')]
    hosts(ann, paused)
    const address = (local: string) => `${local}@${DOMAIN}`
    const id = await send({ to: [ann, paused, unknown].map(address) })
    const bounced = await factOf(fixture, id, 'delivery.bounced')
    expect(bounced.payload).toMatchObject({ type: 'Permanent', sub_type: 'NoEmail', recipients: [address(unknown)] })
    const delivered = await factOf(fixture, id, 'delivery.delivered')
    expect([...Object(delivered.payload['recipients'])].sort()).toEqual([ann, paused].map(address).sort())
    const handedOver = fixture.peers.requests('mail-ingest.acceptInbound').map(({ recipient }) => recipient)
    expect(handedOver).not.toContain(address(paused))
  })

  it('hands nothing to the inbox that sent it, whatever its address: it has the message already', async () => {
    const [self, ann] = [name('self'), name('ann')]
    const known = hosts(`${self}+note`, ann)
    const caller = inboxCaller()
    const own = known.get(`${self}+note@${DOMAIN}`)
    if (own?.status !== 'deliver') throw new Error('the inbox is not hosted')
    known.set(own.given, { ...own, inbox_uid: caller.inbox?.uid ?? '' })
    const answer = await fixture.call('messages.send', caller, {
      path: '/messages/send',
      body: { to: [`${self}+note`, ann].map((local) => `${local}@${DOMAIN}`) },
    })
    const delivered = await factOf(fixture, String(answer.body['message_id']), 'delivery.delivered')
    expect(delivered.payload['recipients']).toHaveLength(2)
    const handedOver = fixture.peers.requests('mail-ingest.acceptInbound').map(({ recipient }) => recipient)
    expect(handedOver).toContain(`${ann}@${DOMAIN}`)
    expect(handedOver.filter((recipient) => recipient.startsWith(self))).toEqual([])
  })

  it("accepts the mailbox's answer when the inbox was deleted in the meantime", async () => {
    const local = name('gone')
    hosts(local)
    fixture.peers.answers = {
      ...fixture.peers.answers,
      'mail-ingest.acceptInbound': async () => ({ outcome: 'unknown' }),
    }
    const id = await send({ to: `${local}@${DOMAIN}` })
    expect((await factOf(fixture, id, 'delivery.bounced')).payload).toMatchObject({ sub_type: 'NoEmail' })
  })

  it.each(['gateway.resolveRecipients', 'mail-ingest.acceptInbound'] as const)(
    'waits for %s without limit, and hands over under the same delivery id',
    async (operation) => {
      const local = name('ann')
      hosts(local)
      let failures = 2
      const { [operation]: answer } = fixture.peers.answers
      fixture.peers.answers = {
        ...fixture.peers.answers,
        [operation]: async (request: never) => (failures-- > 0 ? 500 : answer?.(request)),
      }
      const id = await send({ to: `${local}@${DOMAIN}` })
      await factOf(fixture, id, 'delivery.delivered')
      expect(failures).toBeLessThan(0)
      const ids = fixture.peers
        .requests('mail-ingest.acceptInbound')
        .filter(({ recipient }) => recipient.startsWith(local))
        .map(({ delivery_id }) => delivery_id)
      expect(new Set(ids).size).toBe(1)
    },
  )

  it('rejects a message that an internal failure keeps from being sent, when the retry window is over', async () => {
    const local = name('ann')
    hosts(local)
    // A rejection of the request itself, which no retry fixes.
    fixture.peers.answers = { ...fixture.peers.answers, 'mail-ingest.acceptInbound': async () => 400 }
    const id = await send({ to: `${local}@${DOMAIN}` })
    await queryRows(
      fixture.db,
      'update sends set accepted_at = $2 where message_id = $1',
      id,
      new Date(Date.now() - fixture.config.delivery.retry.giveUpAfterMs),
    )
    const { payload } = await factOf(fixture, id, 'delivery.rejected')
    expect(payload['reason']).toContain('internal failure')
    expect(factsAbout(fixture, id).map(({ type }) => type)).toEqual(['message.accepted', 'delivery.rejected'])
    expect(await countRows(fixture.db, 'list_entries where entry = $1', `${local}@${DOMAIN}`)).toBe(0)
  })

  it('delays no other recipient for one whose mailbox does not answer', async () => {
    const [ann, bo] = [name('ann'), name('bo')]
    hosts(ann, bo)
    let out = true
    fixture.peers.answers = {
      ...fixture.peers.answers,
      'mail-ingest.acceptInbound': async ({ recipient }) =>
        out && recipient.startsWith(bo) ? 400 : { outcome: 'accepted' },
    }
    const id = await send({ to: [ann, bo].map((local) => `${local}@${DOMAIN}`) })
    expect((await factOf(fixture, id, 'delivery.delivered')).payload['recipients']).toEqual([`${ann}@${DOMAIN}`])
    out = false
    await waitFor(() => factsAbout(fixture, id).filter(({ type }) => type === 'delivery.delivered').length === 2, {
      what: 'the other delivery',
    })
  })

  it('retries a delivery that an attempt without its lease had taken', async () => {
    const local = name('ann')
    hosts(local)
    const { 'gateway.resolveRecipients': resolve } = fixture.peers.answers
    let ahead = true
    fixture.peers.answers = {
      ...fixture.peers.answers,
      'gateway.resolveRecipients': async (request) => {
        const overtake = `update deliveries set state = 'deferred', attempts = 1 where starts_with(recipient, $1)`
        if (ahead) await queryRows(fixture.db, overtake, local)
        ahead = false
        return resolve?.(request) ?? 503
      },
    }
    const id = await send({ to: `${local}@${DOMAIN}` })
    await factOf(fixture, id, 'delivery.delivered')
  })

  it('delivers one message to local and external recipients', async () => {
    const local = name('ann')
    hosts(local)
    const outside = `bo-${randomUUID().slice(0, 6)}@outside.example`
    const id = await send({ to: [`${local}@${DOMAIN}`, outside] })
    await fixture.outside.next(outside)
    await waitFor(() => factsAbout(fixture, id).filter(({ type }) => type === 'delivery.delivered').length === 2, {
      what: 'both deliveries',
    })
    expect(factsAbout(fixture, id).filter(({ type }) => type === 'delivery.handed_over')).toHaveLength(1)
  })
})
