import { FakeClamd, MailPeer, operate, waitFor } from '@restante/testkit'
import { OPERATOR_PEER, peerDomain, peerHost } from '../../stack/names.ts'
import { arrival, codeFor, mailTo } from '../../support/mail.ts'
import { signUp } from '../../support/organizations.ts'
import { eventAbout, openStream, typesAbout } from '../../support/streams.ts'
import { useOwnSystem } from '../../support/suite.ts'
import { createTenant, newUsername, type Tenant } from '../../support/tenants.ts'

const SECOND = 'second.test'
/** The test file of virus scanners, in two parts: a scanner would find it in this file. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-', 'STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')
const ENCODED = Buffer.from(EICAR).toString('base64')

const clamd = new FakeClamd()
clamd.conduct = (stream) =>
  stream.includes(ENCODED.slice(0, 60)) ? { answer: 'stream: Eicar-Signature FOUND' } : { answer: 'stream: OK' }

describe('what the operator demands of sent mail', () => {
  const environment = async () => ({
    CLAMD_URL: (await clamd.start()).url,
    SHARED_DOMAINS: SECOND,
    NEW_RECIPIENT_RAMP: '2/1h,4/1d',
    REPUTATION_MINIMUM: '10',
    REPUTATION_EVERY: '200ms',
  })
  const services = ['gateway', 'mail-ingest', 'mail-send', 'domains-dns', 'websocket-fanout'] as const
  const system = useOwnSystem('operator-rules', environment, services)
  afterAll(() => clamd.stop())

  const someone = (prefix?: string) => system.peer.address(newUsername(prefix))
  const newInbox = async ({ client }: Pick<Tenant, 'client'>, domain?: string) =>
    (await client.inboxes.create(domain === undefined ? {} : { domain })).inboxId
  const sendPath = (inboxId: string) => `/v0/inboxes/${encodeURIComponent(inboxId)}/messages/send`

  it('rejects a message with a virus after it was accepted, and sends nothing of it', async () => {
    const { client, key } = system.tenant
    const inboxId = await newInbox(system.tenant)
    const stream = await openStream(system.endpoints, key, { inbox_ids: [inboxId] })
    const to = [someone(), someone()]
    const attachments = [{ filename: 'invoice.com', content: ENCODED }]
    const infected = { to, subject: 'Invoice', text: 'Please pay.', attachments }
    const { messageId, threadId } = await client.inboxes.messages.send(inboxId, infected)
    const { reject } = await eventAbout(stream, messageId, 'message.rejected')
    expect(reject).toEqual({
      inbox_id: inboxId,
      thread_id: threadId,
      message_id: messageId,
      timestamp: expect.any(String),
      reason: 'A virus was found in the message.',
    })
    const { labels } = await client.inboxes.messages.get(inboxId, messageId)
    expect(labels).toEqual(expect.arrayContaining(['sent', 'rejected']))
    const clean = await client.inboxes.messages.send(inboxId, { to, subject: 'Sorry', text: 'The invoice follows.' })
    for (const address of to) await system.peer.server.next(address)
    await eventAbout(stream, clean.messageId, 'message.delivered')
    for (const address of to)
      expect(system.peer.server.mailsTo(address).map(({ parsed }) => parsed.subject)).toEqual(['Sorry'])
    expect(typesAbout(stream, messageId)).toEqual(['message.rejected'])
    await stream.close()
  })

  it('lets a new agent write to few new people at first, and to them and its human as often as it likes', async () => {
    const human = someone('human')
    const agent = await signUp(system, human)
    const send = (...to: string[]) => agent.api.post(sendPath(agent.inboxId), { to, subject: 'Hello', text: 'Hello' })
    expect((await send(human)).status).toBe(200)
    await agent.client.agent.verify({ otpCode: await codeFor(system.peer, human) })
    const known = [someone(), someone()]
    expect((await send(...known)).status).toBe(200)
    const refused = await send(someone())
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limit_exceeded', resource: 'new_recipients', limit: 2, window: 'hour' },
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000)
    expect((await send(human, ...known)).status).toBe(200)
    // Another inbox of the same organization is no way around it.
    const other = (await agent.client.inboxes.create({})).inboxId
    expect((await agent.api.post(sendPath(other), { to: someone(), text: 'Hello' })).status).toBe(429)
    for (const address of known) await system.peer.server.next(address)
  })

  it('suspends an organization whose mail bounces, until the operator resumes it', async () => {
    const bouncing = await createTenant(system.endpoints)
    const inboxId = await newInbox(bouncing)
    const people = Array.from({ length: 12 }, (_, at) => someone(at < 6 ? 'gone' : 'here'))
    const send = (to: string[], tenant = bouncing, from = inboxId) =>
      tenant.api.post(sendPath(from), { to, subject: 'News', text: 'News' })
    for (const gone of people.slice(0, 6)) system.peer.server.answerRecipient(gone, '550 5.1.1 no such mailbox')
    expect((await send(people)).status).toBe(200)
    // Nothing more is sent before, since each mail that is accepted lessens the share of bounces.
    const show = () => operate(system.endpoints.operator, 'organizations', 'show', bouncing.id)
    await waitFor(async () => (await show()).includes('suspended'), { what: 'the suspension', interval: 200 })
    const refusal = async () => {
      const answer = await send(people.slice(6))
      return answer.status === 403 && answer
    }
    const refused = await waitFor(refusal, { what: 'the suspension to hold' })
    expect(refused.body).toMatchObject({ code: 'message_rejected', message: expect.stringContaining('suspended') })
    expect((await bouncing.client.inboxes.list()).count).toBe(1)
    const innocent = await newInbox(system.tenant)
    expect((await send([someone()], system.tenant, innocent)).status).toBe(200)
    await operate(system.endpoints.operator, 'organizations', 'resume', bouncing.id)
    await waitFor(async () => (await send([someone()])).status === 200, { what: 'the organization to send again' })
  })

  describe('on a further shared domain', () => {
    let operator: MailPeer
    beforeAll(async () => {
      operator = await new MailPeer({ host: peerHost(...OPERATOR_PEER), port: system.endpoints.mxPort }).start()
      system.cleanUp(operator)
    })

    it('lets inboxes send and receive like those of the default one', async () => {
      const { client } = system.tenant
      const [inboxId, neighbour] = [await newInbox(system.tenant, SECOND), await newInbox(system.tenant)]
      expect(inboxId).toMatch(/@second\.test$/)
      const to = someone()
      const sent = await client.inboxes.messages.send(inboxId, { to: [to, neighbour], subject: 'Hello', text: 'Hello' })
      const { raw, parsed } = await system.peer.server.next(to)
      expect(parsed).toMatchObject({ messageId: sent.messageId, from: { value: [{ address: inboxId }] } })
      expect(raw.toString()).toMatch(/^List-Unsubscribe: </m)
      await arrival(system, neighbour, sent.messageId)
      const answer = await client.inboxes.messages.reply(neighbour, sent.messageId, { text: 'Hello yourself' })
      expect(await arrival(system, inboxId, answer.messageId)).toMatchObject({ threadId: sent.threadId })
      expect((await mailTo(system, inboxId, { subject: 'From outside' })).subject).toBe('From outside')
    })

    it.each(['postmaster', 'abuse'])('gives mail to %s to the operator', async (local) => {
      const subject = newUsername('report')
      await system.peer.send({ to: `${local}@${SECOND}`, subject, text: 'One of yours sends spam.' })
      const mail = await waitFor(() => operator.mails.find(({ parsed }) => parsed.subject?.includes(subject)), {
        what: 'the forwarded mail',
      })
      expect(mail.recipients).toEqual([`operator@${peerDomain(...OPERATOR_PEER)}`])
    })
  })
})
