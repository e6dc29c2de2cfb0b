import { randomUUID } from 'node:crypto'
import { UnsubscribeAddress } from '@restante/mime'
import { countRows, queryRows, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'

let fixture: Fixture
let feedback: TopicCollection
let addresses: UnsubscribeAddress

beforeAll(async () => {
  fixture = await openFixture()
  feedback = await fixture.collect('mail.feedback')
  addresses = new UnsubscribeAddress(fixture.config.returnPath)
})
afterAll(() => fixture.stop())

const send = (to: string | string[], raw?: string) =>
  sendMail({
    port: fixture.smtpPort,
    envelope: { from: 'ada@customer.test', to },
    ...(raw === undefined ? { from: 'ada@customer.test', to: 'list@mail.test', text: '' } : { raw }),
  })
const about = (deliveryId: string) => feedback.records.filter(({ key }) => key === deliveryId)
const requestOf = (deliveryId: string) =>
  feedback.next(({ key }) => key === deliveryId, { what: 'the request to unsubscribe' })
const RECORDED = "outbox where type = 'unsubscribe.requested' and subject = $1"

describe('a mail to the unsubscribe address of a delivery', () => {
  it('is on record for mail-send once it is answered 250, and is stored nowhere', async () => {
    const id = randomUUID()
    const before = await countRows(fixture.db, 'raw_mails')
    await send(addresses.addressFor(id))
    expect(await countRows(fixture.db, RECORDED, id)).toBe(1)
    const record = await requestOf(id)
    expect(record.type).toBe('unsubscribe.requested')
    expect(JSON.parse(record.value)).toEqual({
      delivery_id: id,
      received_at: expect.any(String),
      peer: '127.0.0.1',
    })
    expect(await countRows(fixture.db, 'raw_mails')).toBe(before)
    expect(await queryRows(fixture.db, 'select * from inbound where lane = $1', id)).toEqual([])
  })

  it('counts whatever is in it, and whatever the case of the address', async () => {
    const id = randomUUID()
    await send(addresses.addressFor(id).toUpperCase(), 'no header at all\r\n')
    expect(await requestOf(id)).toMatchObject({ type: 'unsubscribe.requested' })
  })

  it('counts once for each delivery, and is delivered to the inboxes that it names as well', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    const [inbox, paused] = [await fixture.inbox(), await fixture.inbox()]
    await fixture.setStatus(paused, 'paused')
    const addressed = [first, second, first].map((id) => addresses.addressFor(id))
    await send([...addressed, inbox.address, paused.address])
    for (const id of [first, second]) {
      await requestOf(id)
      expect(await countRows(fixture.db, RECORDED, id)).toBe(1)
    }
    const list = () => fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')
    await waitFor(async () => (await list()).body.count === 1, { what: 'the mail in the inbox' })
  })

  it('and to the return path of the same delivery are two things', async () => {
    const id = randomUUID()
    const report =
      'From: mailer-daemon@x.test\r\nX-Failed-Recipients: bo@x.test\r\nSubject: failed\r\n\r\n550 5.1.1 unknown\r\n'
    const to = [addresses.addressFor(id), fixture.returnPath.addressFor(id)]
    await sendMail({ port: fixture.smtpPort, envelope: { from: '', to }, raw: report })
    await waitFor(() => about(id).length === 2, { what: 'both records' })
    expect(
      about(id)
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['bounce.reported', 'unsubscribe.requested'])
  })

  it.each([
    ['was altered', (address: string) => address.replace(/^u\+./, (start) => (start === 'u+0' ? 'u+1' : 'u+0'))],
    ['was made with another secret', (_: string, id: string) => foreign().addressFor(id)],
    ['was made from its return path', (_: string, id: string) => fixture.returnPath.addressFor(id).replace(/^b/, 'u')],
  ])('is refused when the address %s', async (_what, forge) => {
    const id = randomUUID()
    await expect(send(forge(addresses.addressFor(id), id))).rejects.toMatchObject({ responseCode: 550 })
    expect(await countRows(fixture.db, RECORDED, id)).toBe(0)
  })
})

const foreign = () => new UnsubscribeAddress({ ...fixture.config.returnPath, secret: 'the secret of somebody else' })
