import { randomUUID } from 'node:crypto'
import type { ListDirection, Tier } from '@restante/contracts/vocabulary'
import { sendMail } from '@restante/testkit'
import { Correspondence, type Letter, madeId } from '../correspondence.ts'
import { pathOf, sentCopy } from '../mailbox-fixture.ts'
import { ListOwner, scopeOf } from './entries.ts'

const ADA = 'ada@customer.test'
const BO = { from: 'Bo <bo@other.test>', via: 'bo@other.test' }

let post: Correspondence
let owner: ListOwner

beforeAll(async () => {
  post = await Correspondence.open('customer.test', 'sub.customer.test', 'other.test', 'xn--bcher-kva.test')
  owner = new ListOwner(post.fixture)
  post.mailSend.answers['mail-send.findListEntries'] = (request) => owner.find(request)
})
afterAll(async () => {
  await owner.stop()
  await post.close()
})
beforeEach(() => post.openInbox())
afterEach(() => owner.clear())

const add = (tier: Tier, direction: ListDirection, what: string) =>
  owner.add(scopeOf(post.inbox, tier), direction, what)

/** Sends mails one after the other. @returns the events of all that the inbox received */
async function afterSending(...mails: Letter[]) {
  const before = (await post.afterReceiving(0)).length
  for (const [index, mail] of mails.entries()) {
    await post.send({ messageId: madeId(), text: `mail ${before + index}`, ...mail })
    await post.afterReceiving(before + index + 1)
  }
  return (await post.afterReceiving(before + mails.length)).slice(before)
}

const BLOCKED = {
  event_type: 'message.received.blocked',
  message: { labels: ['received', 'unread', 'blocked'] },
}
const RECEIVED = { event_type: 'message.received', message: { labels: ['received', 'unread'] } }

describe('a mail that starts a thread', () => {
  it.each(['inbox', 'pod', 'organization'] as const)('is blocked by the block list of its %s', async (tier) => {
    await add(tier, 'receive', `block ${ADA}`)
    const [blocked, other] = await afterSending({}, BO)
    expect(blocked).toMatchObject(BLOCKED)
    expect(other).toMatchObject(RECEIVED)
    expect(await post.threads()).toEqual([other.message.thread_id])
  })

  it.each(['inbox', 'pod', 'organization'] as const)(
    'is blocked by an allow list of its %s that names others',
    async (tier) => {
      await add(tier, 'receive', 'allow other.test')
      const [blocked, allowed] = await afterSending({}, BO)
      expect(blocked).toMatchObject(BLOCKED)
      expect(allowed).toMatchObject(RECEIVED)
    },
  )

  it('is judged by the narrowest list that names its author', async () => {
    await add('organization', 'receive', `block ${ADA}`)
    await add('inbox', 'receive', 'allow customer.test')
    const [allowed] = await afterSending({})
    expect(allowed).toMatchObject(RECEIVED)
  })

  it('is judged by its exact domain only', async () => {
    await add('inbox', 'receive', 'block customer.test')
    const [blocked, other] = await afterSending(
      { from: 'Eve <EVE@Customer.Test>' },
      { from: 'Desk <desk@sub.customer.test>', via: 'desk@sub.customer.test' },
    )
    expect(blocked).toMatchObject(BLOCKED)
    expect(other).toMatchObject(RECEIVED)
  })

  it('is judged by its domain in ASCII', async () => {
    await add('inbox', 'receive', 'block xn--bcher-kva.test')
    const [blocked] = await afterSending({ from: 'Ada <ada@bücher.test>', via: 'ada@xn--bcher-kva.test' })
    expect(blocked.event_type).toBe('message.received.blocked')
  })

  it('has further labels where more is wrong with it', async () => {
    await add('inbox', 'receive', `block ${ADA}`)
    const [forged] = await afterSending({ via: 'eve@evil.test' })
    expect(forged).toMatchObject({
      event_type: 'message.received.blocked',
      message: { labels: ['received', 'unread', 'unauthenticated', 'blocked'] },
    })
  })

  it('is judged by entries that exist when it is stored: later ones change nothing', async () => {
    const [before] = await afterSending({})
    const entry = await add('inbox', 'receive', `block ${ADA}`)
    const [during] = await afterSending({})
    await owner.remove(entry)
    const [after] = await afterSending({})
    expect([before, during, after].map(({ event_type }) => event_type)).toEqual([
      'message.received',
      'message.received.blocked',
      'message.received',
    ])
    const { body } = await post.fixture.call(
      post.inbox.caller,
      'messages.get',
      'GET',
      pathOf(during.message.message_id),
    )
    expect(body.labels).toEqual(['received', 'unread', 'blocked'])
  })

  it('is judged alone where one transaction stores several', async () => {
    await add('inbox', 'receive', `block ${ADA}`)
    await post.together({ text: 'one' }, { ...BO, text: 'two' }, { text: 'three' })
    const events = await post.afterReceiving(4)
    expect(events.map(({ message }) => [message.text.trim(), message.labels.includes('blocked')])).toEqual([
      ['ahead of the others', true],
      ['one', true],
      ['two', false],
      ['three', true],
    ])
  })

  it('is not judged by the lists of other inboxes, pods and organizations, nor by reply lists', async () => {
    const { inbox } = post
    await post.openInbox()
    await owner.add(scopeOf(inbox, 'inbox'), 'receive', `block ${ADA}`)
    const elsewhere = { organization_id: '00000000-0000-4000-8000-000000000001' }
    await owner.add(elsewhere, 'receive', `block ${ADA}`)
    const pod = { organization_id: inbox.organization_id, pod_id: '00000000-0000-4000-8000-000000000002' }
    await owner.add(pod, 'receive', `block ${ADA}`)
    await add('inbox', 'reply', `block ${ADA}`)
    expect((await afterSending({}))[0]).toMatchObject(RECEIVED)
  })

  it('is judged in the same way when it is handed over inside the installation', async () => {
    const sender = post.inbox
    await post.openInbox()
    await add('inbox', 'receive', `block ${sender.address}`)
    const { organization_id, pod_id, inbox_uid } = post.inbox
    const { blob, message_id } = await sentCopy(post.fixture, sender, { to: [post.inbox.address] })
    await post.fixture.peer('mail-ingest.acceptInbound', {
      ...{ organization_id, pod_id, inbox_uid, blob },
      ...{ delivery_id: randomUUID(), recipient: post.inbox.address, mail_from: sender.address },
    })
    const [event] = await post.afterReceiving(1)
    expect(event).toMatchObject({ ...BLOCKED, message: { message_id, ...BLOCKED.message } })
  })
})

describe('a mail without exactly one author', () => {
  const deliver = async (from: string) => {
    const { inbox, fixture } = post
    const raw = `From: ${from}\r\nTo: ${inbox.address}\r\nMessage-ID: ${madeId()}\r\nSubject: Several\r\n\r\nHello\r\n`
    await sendMail({ port: fixture.smtpPort, envelope: { from: ADA, to: inbox.address }, raw })
    const [event] = await post.afterReceiving(1)
    return event
  }

  it.each([
    ['an address in its text', `bo@other.test, ${ADA}`, `block ${ADA}`],
    ['the domain of an address in its text', `bo@other.test, ${ADA}`, 'block customer.test'],
    ['an address in a name', `"${ADA}" <bo@other.test>, cy@other.test`, `block ${ADA}`],
    ['an allow list, even of an address in its text', `bo@other.test, ${ADA}`, `allow ${ADA}`],
    ['an allow list, if it names nobody', '', `allow ${ADA}`],
  ])('is blocked by %s', async (_what, from, entry) => {
    await add('inbox', 'receive', entry)
    const { event_type, message } = await deliver(from)
    expect(event_type).toBe('message.received.blocked')
    expect(message.labels).toEqual(expect.arrayContaining(['blocked', 'unauthenticated']))
  })

  it('is not blocked where nobody in its text is', async () => {
    await add('inbox', 'receive', `block ${ADA}`)
    expect((await deliver('bo@other.test, cy@other.test')).message.labels).not.toContain('blocked')
  })
})
