import { type OutsidePeer, openPeer } from '@restante/test-e2e/support/peers.ts'
import { clientOf, createTenant, newUsername, type Tenant } from '@restante/test-e2e/support/tenants.ts'
import { PATIENCE_MS, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { RenderedInstallation } from './installation.ts'

describe('an installation as the chart renders it, on engines with TLS and authentication', () => {
  let installation: RenderedInstallation
  let peer: OutsidePeer
  let tenant: Tenant
  beforeAll(async () => {
    installation = await RenderedInstallation.start()
    ;[tenant, peer] = await Promise.all([createTenant(installation.endpoints), openPeer(installation.endpoints)])
  }, 300_000)
  afterAll(async () => {
    await peer?.stop()
    await installation?.stop()
  })

  it('receives a mail, reports it to a webhook, and delivers the reply', async () => {
    const { client } = tenant
    const { inboxId } = await client.inboxes.create({})
    const receiver = await new WebhookReceiver().start()
    const { secret } = await client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'] })
    const human = peer.address(newUsername('human'))
    await peer.send({ to: inboxId, from: human, subject: 'Question', text: 'Are you there?' })
    const request = await waitFor(() => receiver.requests[0], { what: 'the webhook', timeout: 2 * PATIENCE_MS })
    expect(verifyWebhook(secret, request)).toMatchObject({ event_type: 'message.received' })
    const { messages } = await client.inboxes.messages.list(inboxId)
    const messageId = messages[0]?.messageId ?? ''
    await client.inboxes.messages.reply(inboxId, messageId, { text: 'Yes.' })
    const [reply] = await waitFor(() => peer.server.mailsTo(human).length > 0 && peer.server.mailsTo(human), {
      what: 'the reply',
      timeout: 2 * PATIENCE_MS,
    })
    expect(reply?.parsed).toMatchObject({ subject: 'Re: Question', text: expect.stringContaining('Yes.') })
    await receiver.stop()
  }, 600_000)

  it('lets an agent sign up, and its human confirm it', async () => {
    const human = peer.address(newUsername('human'))
    const { endpoints } = installation
    const signedUp = await clientOf(endpoints, '').agent.signUp({ username: newUsername('agent'), humanEmail: human })
    const mails = () => peer.server.mailsTo(human).filter(({ parsed }) => /code/i.test(parsed.subject ?? ''))
    const [mail] = await waitFor(() => mails().length > 0 && mails(), { what: 'the code', timeout: 2 * PATIENCE_MS })
    const [otpCode] = /\b\d{6}\b/.exec(mail?.parsed.text ?? '') ?? []
    await clientOf(endpoints, signedUp.apiKey).agent.verify({ otpCode: otpCode ?? '' })
  })

  it('has no connection to PostgreSQL without TLS', async () => {
    const { encrypted, plain } = await installation.encryptedConnections()
    expect(encrypted).toBeGreaterThan(6)
    expect(plain).toBe(0)
  })

  it('keeps the bytes of mail in the bucket', async () => {
    expect(await installation.storedObjects()).toBeGreaterThan(0)
  })

  it('has the topics that services expect, made of its KafkaTopics, and shows them to the user of an operator', async () => {
    expect(await installation.differencesOfTopics()).toEqual([])
  })

  it('lets a service publish to its own topics, by its KafkaUser, and to no others', async () => {
    await expect(installation.publish('gateway', 'tenancy')).resolves.toBeUndefined()
    await expect(installation.publish('webhooks-dispatcher', 'tenancy')).rejects.toThrow(/[Nn]ot authorized/)
  })
})
