import { randomUUID } from 'node:crypto'
import { ServiceClient } from '@restante/service/http'
import { createLogger } from '@restante/service/telemetry'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { ListOwner as OwnerOfLists } from '../../src/lists/list-owner.ts'
import { lockMailbox } from '../../src/mailbox/lock.ts'
import { Correspondence, madeId } from '../correspondence.ts'
import { holding, whenWaiting } from '../locks.ts'
import { ListOwner, scopeOf } from './entries.ts'

const ADA = 'ada@customer.test'
const NAMES_OF_ADA = 'ada@customer.test customer.test'

let post: Correspondence
let owner: ListOwner
/** The names that mail-send was asked about, those of one mail together. A call that was not answered in time is repeated. */
let asked: Set<string>

beforeAll(async () => {
  post = await Correspondence.open('customer.test', 'other.test')
  owner = new ListOwner(post.fixture)
})
afterAll(async () => {
  await owner.stop()
  await post.close()
})
beforeEach(async () => {
  asked = new Set()
  answering()
  await post.openInbox()
})
afterEach(() => owner.clear())

function answering(): void {
  post.mailSend.answers['mail-send.findListEntries'] = (request) => {
    for (const { names } of request.mails) asked.add(names.join(' '))
    return owner.find(request)
  }
}

const block = (entry = ADA) => owner.add(scopeOf(post.inbox, 'inbox'), 'receive', `block ${entry}`)
const receive = async (count = 1) => (await post.afterReceiving(count)).map(({ message }) => message.labels)
const send = () => post.send({ messageId: madeId() })

describe('a mail that the projection would block', () => {
  it('is blocked when the owner confirms it, and the owner is asked about no other mail', async () => {
    await block('bo@other.test')
    await send()
    expect(await receive()).toEqual([['received', 'unread']])
    expect(asked).toEqual(new Set())
    await block()
    await send()
    expect((await receive(2))[1]).toEqual(['received', 'unread', 'blocked'])
    expect(asked).toEqual(new Set([NAMES_OF_ADA]))
  })

  it('is not blocked by an entry that the owner has deleted, before that is known', async () => {
    const entry = await block()
    owner.standing.delete(entry)
    await send()
    expect(await receive()).toEqual([['received', 'unread']])
    expect(await owner.isKnown(entry)).toBe(true)
  })

  it('is blocked by another entry of the owner than the one that is known', async () => {
    const entry = await block()
    owner.standing.delete(entry)
    owner.standing.add({ ...entry, entry_id: randomUUID(), entry: 'customer.test' })
    await send()
    expect(await receive()).toEqual([['received', 'unread', 'blocked']])
    owner.standing.clear()
  })

  it('waits while the owner does not answer, and no attempt counts', async () => {
    await block()
    post.mailSend.answers = {}
    await send()
    const waiting = () =>
      queryRows<{ attempts: number }>(post.fixture.db, 'select attempts from inbound where due_at > now()')
    const row = await waitFor(async () => (await waiting())[0], { what: 'the mail to wait' })
    expect(row).toEqual({ attempts: 0 })
    expect(await countRows(post.fixture.db, 'messages where inbox_uid = $1', post.inbox.inbox_uid)).toBe(0)
    answering()
    expect(await receive()).toEqual([['received', 'unread', 'blocked']])
  })

  it('does not wait for ever: after the time for it, the projection decides', async () => {
    await block()
    post.mailSend.answers = {}
    await send()
    const old = "update inbound set received_at = now() - interval '5 minutes' where inbox_uid = $1"
    await waitFor(
      async () => {
        await queryRows(post.fixture.db, old, post.inbox.inbox_uid)
        const messages = await countRows(post.fixture.db, 'messages where inbox_uid = $1', post.inbox.inbox_uid)
        return messages > 0
      },
      { what: 'the mail to be stored' },
    )
    expect(await receive()).toEqual([['received', 'unread', 'blocked']])
  })
})

it('asks the owner as well when the entry arrives while the mail is about to be stored', async () => {
  const { db } = post.fixture
  await holding(db, async (tx) => {
    await lockMailbox(tx, post.inbox.inbox_uid)
    await send()
    await whenWaiting(db, tx, { what: 'the mail to be examined' })
    expect(asked).toEqual(new Set())
    await block()
  })
  expect(await receive()).toEqual([['received', 'unread', 'blocked']])
  expect(asked).toEqual(new Set([NAMES_OF_ADA]))
})

describe('many mails that the projection would block', () => {
  it('are asked about together', async () => {
    await block()
    const log = createLogger({ service: 'test', level: 'silent' })
    const key = post.fixture.config.peers.of('mail-send')
    const mailSend = new ServiceClient({ from: 'mail-ingest', to: 'mail-send', ...key })
    const asking = new OwnerOfLists({ db: post.fixture.db, mailSend, log })
    let calls = 0
    post.mailSend.answers['mail-send.findListEntries'] = (request) => {
      calls++
      return owner.find(request)
    }
    const mail = { inbox: post.inbox, senders: { author: ADA } }
    const lists = await Promise.all(
      Array.from({ length: 100 }, () => asking.confirm(mail, { id: randomUUID(), receivedAt: new Date() })),
    )
    expect(lists.map((found) => found?.isBlocked(mail, 'receive'))).toEqual(lists.map(() => true))
    expect(calls).toBeLessThanOrEqual(20)
    await mailSend.stop()
  })
})
