import { WebhookReceiver, waitFor } from '@restante/testkit'
import { Api } from '../support/api.ts'
import { codeFor, mailTo } from '../support/mail.ts'
import { eventsAbout, openStream } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'
import { clientOf, newUsername } from '../support/tenants.ts'
import { letCodesBeMailed } from '../support/time.ts'

describe('a third party who signed up first in the name of a human', () => {
  const system = useSystem()
  let theirs: WebhookReceiver
  let ours: WebhookReceiver
  beforeEach(async () => {
    theirs = await new WebhookReceiver().start()
    ours = await new WebhookReceiver().start()
  })
  afterEach(() => Promise.all([theirs.stop(), ours.stop()]))

  async function signUp(human_email: string) {
    const body = { username: newUsername('agent'), human_email }
    const answer = await new Api(system.endpoints.gatewayUrl).post('/v0/agent/sign-up', body)
    expect(answer).toMatchObject({ status: 200 })
    const key = String(answer.body['api_key'])
    const inboxId = String(answer.body['inbox_id'])
    const client = clientOf(system.endpoints, key)
    return { key, inboxId, inbox: `/v0/inboxes/${inboxId}`, api: new Api(system.endpoints.gatewayUrl, key), client }
  }

  type Agent = Awaited<ReturnType<typeof signUp>>
  const hook = ({ client }: Agent, { url }: WebhookReceiver) =>
    client.webhooks.create({ url, eventTypes: ['message.received', 'message.sent'] })

  /** Signs up and creates everything that an unverified organization can create. */
  async function stranger(human: string) {
    const agent = await signUp(human)
    await codeFor(system.peer, human)
    const sent = await agent.client.inboxes.messages.send(agent.inboxId, {
      ...{ to: [human], subject: 'Hello', text: 'It is me', labels: ['mine'] },
    })
    await hook(agent, theirs)
    await agent.client.inboxes.webhooks.create(agent.inboxId, { url: theirs.url, eventTypes: ['message.received'] })
    const stream = await openStream(system.endpoints, agent.key)
    expect(await agent.api.patch(agent.inbox, { display_name: 'Your Bank', metadata: { owner: 'me' } })).toMatchObject({
      status: 200,
    })
    return { ...agent, stream, threadId: sent.threadId }
  }

  /** Expects that nothing of the stranger is left, and that the next mail reaches only the new key. */
  async function expectNoWindow(before: Awaited<ReturnType<typeof stranger>>, heir: Agent) {
    expect((await before.api.get(before.inbox)).status).toBe(401)
    expect(await before.stream.ended()).toMatchObject({ code: 1008 })
    expect(await heir.api.get('/v0/webhooks')).toMatchObject({ body: { count: 0 } })
    expect(await heir.api.get('/v0/api-keys')).toMatchObject({ body: { count: 1 } })
    expect((await heir.api.get(heir.inbox)).body).not.toHaveProperty('status')
    await hook(heir, ours)
    const { messageId } = await mailTo({ tenant: heir, peer: system.peer }, heir.inboxId)
    await waitFor(() => ours.requests.some(({ body }) => body.includes(JSON.stringify(messageId))), {
      what: 'the mail at the webhook of the new key',
    })
    // What was sent before the end may still arrive; of this mail nothing may.
    const known = [...theirs.requests.map(({ body }) => body), ...eventsAbout(before.stream, messageId)]
    expect(known.filter((one) => typeof one !== 'string' || one.includes(JSON.stringify(messageId)))).toEqual([])
  }

  /**
   * Expects that what the stranger set on the inbox is removed, and that the inbox, its threads and messages remain.
   */
  async function expectCleanInbox({ threadId }: { threadId: string }, heir: Agent) {
    const { body: inbox } = await heir.api.get(heir.inbox)
    for (const member of ['display_name', 'metadata', 'status']) expect(inbox).not.toHaveProperty(member)
    await waitFor(
      async () => !(await heir.client.inboxes.threads.get(heir.inboxId, threadId)).labels.includes('mine'),
      { what: 'the label to be taken off' },
    )
  }

  it("keeps no access to the mail once the human's agent signs up, and no name once that is verified", async () => {
    const human = system.peer.address(newUsername('human'))
    const before = await stranger(human)
    await before.api.patch(before.inbox, { status: 'paused' })
    const heir = await signUp(human)
    expect(heir.inboxId).toBe(before.inboxId)
    await expectNoWindow(before, heir)
    expect(await heir.api.post('/v0/agent/verify', { otp_code: await codeFor(system.peer, human) })).toMatchObject({
      status: 200,
    })
    await expectCleanInbox(before, heir)
  })

  it("keeps no access after the inbox has sent mail, once the human's agent enters its own code", async () => {
    const human = system.peer.address(newUsername('human'))
    const before = await stranger(human)
    await mailTo({ tenant: before, peer: system.peer }, before.inboxId)
    await letCodesBeMailed(system.endpoints)
    const heir = await signUp(human)
    expect((await heir.api.get('/v0/threads')).status).toBe(403)
    expect(await before.api.get('/v0/webhooks')).toMatchObject({ body: { count: 2 } })
    const otp_code = await codeFor(system.peer, human, 2)
    expect(await heir.api.post('/v0/agent/verify', { otp_code })).toMatchObject({ status: 200 })
    await expectCleanInbox(before, heir)
    await expectNoWindow(before, heir)
  })
})
