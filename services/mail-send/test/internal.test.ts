import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import type { InternalRequestOf } from '@restante/contracts/internal'
import { sentCopy } from '@restante/contracts/schemas'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { DOMAIN, type Fixture, inboxCaller, startWorld } from './support/fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keyFile = path.join(await mkdtemp(path.join(tmpdir(), 'dkim-')), 'key.pem')
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  fixture = await startWorld({ DKIM_SELECTOR: 's1', DKIM_KEY_FILE: keyFile })
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
})
afterAll(() => fixture.stop())

const SIGNATURE = /^DKIM-Signature: [^;]*;[^;]*;[^;]*; d=restante\.test;[^;]*;[^;]*; s=s1;/m

const someone = () => `ann-${randomUUID().slice(0, 8)}@outside.example`

describe('mail-send.sendSystemMail', () => {
  it('200: mails a text from the installation, signed, once per id, and publishes no event', async () => {
    const to = someone()
    const mail = { id: randomUUID(), to, subject: 'Your code', text: 'It is 123456.' }
    const calls = Array.from({ length: 10 }, () => fixture.internal('mail-send.sendSystemMail', 'gateway', mail))
    for (const answer of await Promise.all(calls)) expect(answer.status).toBe(200)
    const { parsed, raw } = await fixture.outside.next(to)
    expect(parsed).toMatchObject({ subject: 'Your code', text: 'It is 123456.\n' })
    expect(parsed.from?.value[0]?.address).toBe(`no-reply@${DOMAIN}`)
    expect(raw.toString()).toMatch(SIGNATURE)
    await waitFor(
      async () => (await countRows(fixture.db, 'deliveries where recipient = $1 and state = $2', to, 'delivered')) > 0,
      {
        what: 'the delivery to be settled',
      },
    )
    expect(await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)).toMatchObject({ status: 200 })
    expect(fixture.outside.mailsTo(to)).toHaveLength(1)
    expect(await countRows(fixture.db, 'deliveries where recipient = $1', to)).toBe(1)
    expect(await countRows(fixture.db, 'outbox where strpos(subject, $1) > 0', mail.id)).toBe(0)
  })

  it('200: nothing of the text is readable in the blob store or the database, before and after delivery', async () => {
    const words = ['a secret of the text', Buffer.from('a secret of the text').toString('base64').slice(0, 20)]
    const held = async () => {
      const blobs = await readdir(fixture.blobs, { recursive: true, withFileTypes: true })
      const files = blobs.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
      const bytes = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')))
      const rows = await Promise.all([
        ...['sends', 'deliveries', 'timers', 'outbox', 'pending_blobs'].map((table) =>
          queryRows(fixture.db, `select * from ${table}`),
        ),
      ])
      const text = bytes.join() + inspect(rows, { depth: null, maxArrayLength: null, maxStringLength: null })
      return words.filter((word) => text.includes(word))
    }
    const [to, stuck] = [someone(), `ann-${randomUUID()}@stuck.example`]
    fixture.zone.fail('stuck.example')
    for (const recipient of [to, stuck]) {
      const mail = { id: randomUUID(), to: recipient, subject: 'Your code', text: 'It is a secret of the text.' }
      expect((await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)).status).toBe(200)
    }
    expect((await fixture.outside.next(to)).parsed.text).toBe('It is a secret of the text.\n')
    const deferred = () => countRows(fixture.db, `deliveries where recipient = $1 and state = 'deferred'`, stuck)
    await waitFor(async () => (await deferred()) > 0, { what: 'a mail that waits' })
    expect(await held()).toEqual([])
  })

  it.each(['nobody', `desk@${DOMAIN}`])('400: refuses %s, which cannot be mailed', async (to) => {
    const mail = { id: randomUUID(), to, subject: 'x', text: 'x' }
    expect((await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)).status).toBe(400)
  })

  it('401: is not for other services', async () => {
    const mail = { id: randomUUID(), to: someone(), subject: 'x', text: 'x' }
    expect((await fixture.internal('mail-send.sendSystemMail', 'mail-ingest', mail)).status).toBe(401)
  })
})

describe('mail-send.hasSystemMailFailed', () => {
  const ask = (id: string) => fixture.internal('mail-send.hasSystemMailFailed', 'gateway', { id })
  const send = async (to: string) => {
    const mail = { id: randomUUID(), to, subject: 'Your code', text: 'It is 123456.' }
    await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)
    return mail.id
  }
  const settled = (to: string, state: string) =>
    waitFor(
      async () => {
        const text = 'select send_id as "sendId" from deliveries where recipient = $1 and state = $2'
        const [delivery] = await queryRows<{ sendId: string }>(fixture.db, text, to, state)
        return delivery
      },
      { what: `${to} ${state}` },
    )

  it('200: reports a mail that was refused', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
    const id = await send(to)
    await settled(to, 'bounced')
    expect((await ask(id)).body).toEqual({ failed: true })
  })

  it('200: does not report one that was delivered, is being delivered, or is unknown', async () => {
    const [arrives, late] = [someone(), someone()]
    fixture.outside.answerRecipient(late, '450 4.2.0 later')
    const ids = [await send(arrives), await send(late), randomUUID()]
    await settled(arrives, 'delivered')
    for (const id of ids) expect((await ask(id)).body).toEqual({ failed: false })
  })

  it('200: reports nothing about the mail of inboxes', async () => {
    const to = someone()
    fixture.outside.answerRecipient(to, '550 5.1.1 no such user')
    await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body: { to, text: 'x' } })
    const { sendId } = await settled(to, 'bounced')
    expect((await ask(sendId)).body).toEqual({ failed: false })
  })

  it('401: is not for other services', async () => {
    const answer = await fixture.internal('mail-send.hasSystemMailFailed', 'mail-ingest', { id: randomUUID() })
    expect(answer.status).toBe(401)
  })
})

describe('mail-send.getSentCopy', () => {
  it('200: finds the first of the messages that this inbox sent', async () => {
    const caller = inboxCaller()
    const ids: string[] = []
    for (const subject of ['one', 'two']) {
      const body = { to: someone(), subject }
      const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body })
      ids.push(String(answer.body['message_id']))
    }
    const ask = (inbox_uid: string, message_ids: string[]) =>
      fixture.internal('mail-send.getSentCopy', 'mail-ingest', { inbox_uid, message_ids })
    const found = await ask(caller.inbox.uid, ['<unknown@x>', ids[1] ?? '', ids[0] ?? ''])
    expect(sentCopy.parse(found.body['copy'])).toMatchObject({ message_id: ids[1], subject: 'two' })
    expect((await ask(randomUUID(), ids)).body).toEqual({})
    expect((await ask(caller.inbox.uid, ['<unknown@x>'])).body).toEqual({})
  })

  it('401: is not for other services', async () => {
    const body = { inbox_uid: randomUUID(), message_ids: ['<a@b>'] }
    expect((await fixture.internal('mail-send.getSentCopy', 'gateway', body)).status).toBe(401)
  })
})

describe('mail-send.findRecentSends', () => {
  const find = (request: { messages?: object[]; threads?: object[] }) =>
    fixture.internal('mail-send.findRecentSends', 'mail-ingest', { messages: [], threads: [], ...request })

  it('200: lists messages accepted in the last ten minutes, by message and by thread, of that scope only', async () => {
    const caller = inboxCaller()
    const send = async () => {
      const body = { to: someone(), subject: 'recent' }
      const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body })
      return { message_id: String(answer.body['message_id']), thread_id: String(answer.body['thread_id']) }
    }
    const [first, second] = [await send(), await send()]
    const { organization_id } = caller
    const inbox_uid = caller.inbox.uid
    const found = await find({
      messages: [
        { inbox_uid, message_id: first.message_id },
        { inbox_uid: randomUUID(), message_id: second.message_id },
        { inbox_uid, message_id: '<unknown@x>' },
      ],
      threads: [
        { organization_id, thread_id: second.thread_id },
        { organization_id: randomUUID(), thread_id: first.thread_id },
      ],
    })
    const scope = { organization_id, pod_id: caller.inbox.pod_id, inbox_uid }
    expect(found).toMatchObject({
      status: 200,
      body: {
        sends: [
          { ...scope, ...first },
          { ...scope, ...second },
        ],
      },
    })
    await queryRows(
      fixture.db,
      'update sends set accepted_at = $2 where inbox_uid = $1',
      inbox_uid,
      new Date(Date.now() - 601_000),
    )
    const later = await find({
      messages: [{ inbox_uid, message_id: first.message_id }],
      threads: [{ organization_id, thread_id: second.thread_id }],
    })
    expect(later.body).toEqual({ sends: [] })
  })

  it('401: is not for other services', async () => {
    const body = { messages: [], threads: [] }
    expect((await fixture.internal('mail-send.findRecentSends', 'gateway', body)).status).toBe(401)
  })
})

describe('a message of an inbox', () => {
  it('is signed for the domain', async () => {
    const to = someone()
    await fixture.call('messages.send', inboxCaller(), { path: '/messages/send', body: { to, text: 'x' } })
    const { raw } = await fixture.outside.next(to)
    expect(raw.toString()).toMatch(SIGNATURE)
  })
})

describe('mail-send.findDeliveries', () => {
  type Named = InternalRequestOf<'mail-send.findDeliveries'>
  const ask = async (named: Named) =>
    (await fixture.internal('mail-send.findDeliveries', 'mail-ingest', named)).body['deliveries']

  async function send(...to: string[]) {
    const caller = inboxCaller()
    const answer = await fixture.call('messages.send', caller, { path: '/messages/send', body: { to } })
    const messageId = String(answer.body['message_id'])
    const rows = await queryRows<{ id: string; recipient: string }>(
      fixture.db,
      'select d.id, d.recipient from deliveries d join sends s on s.id = d.send_id where s.message_id = $1',
      messageId,
    )
    const { organization_id, inbox } = caller
    const scope = { organization_id, pod_id: inbox?.pod_id, inbox_uid: inbox?.uid }
    const found = (recipient: string) => ({
      delivery_id: rows.find((row) => row.recipient === recipient)?.id ?? '',
      ...scope,
    })
    return { messageId, found }
  }

  it('200: finds the deliveries of a message to the recipients that are named, whatever their case', async () => {
    const [first, second, third] = [someone(), someone(), someone()]
    const { messageId, found } = await send(first, second, third)
    const recipients = [second.toUpperCase(), first, someone()]
    const deliveries = await ask({ message_id: messageId, recipients })
    expect(deliveries).toHaveLength(2)
    expect(deliveries).toEqual(expect.arrayContaining([found(first), found(second)]))
    expect(await ask({ message_id: messageId, recipients: [someone()] })).toEqual([])
    expect(await ask({ message_id: '<unknown@x.test>', recipients: [first] })).toEqual([])
  })

  it('200: finds a delivery by its id, and the inbox that sent it', async () => {
    const to = someone()
    const { found } = await send(to)
    const { delivery_id } = found(to)
    expect(await ask({ delivery_id })).toEqual([found(to)])
    expect(await ask({ delivery_id: randomUUID() })).toEqual([])
  })

  it('200: does not find mail that was handed over to an inbox here, nor mail of the installation', async () => {
    const to = someone()
    const { messageId, found } = await send(to)
    await queryRows(fixture.db, 'update deliveries set inside = true where id = $1', found(to).delivery_id)
    expect(await ask({ delivery_id: found(to).delivery_id })).toEqual([])
    expect(await ask({ message_id: messageId, recipients: [to] })).toEqual([])
    const mail = { id: randomUUID(), to: someone(), subject: 'Your code', text: 'It is 123456.' }
    await fixture.internal('mail-send.sendSystemMail', 'gateway', mail)
    const [{ id } = { id: '' }] = await queryRows<{ id: string }>(
      fixture.db,
      'select id from deliveries where recipient = $1',
      mail.to,
    )
    expect(await ask({ delivery_id: id })).toEqual([])
  })

  it('401: is not for other services', async () => {
    const answer = await fixture.internal('mail-send.findDeliveries', 'gateway', { delivery_id: randomUUID() })
    expect(answer.status).toBe(401)
  })
})
