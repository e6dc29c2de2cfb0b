import assert from 'node:assert/strict'
import { type MailPeer, randomName, sendMail, verifyWebhook, WebhookReceiver, waitFor } from '@restante/testkit'
import { AgentMailClient } from 'agentmail'
import { findInstallation, type Installation } from '../harness/installation.ts'
import { OUTSIDE_DOMAIN, OUTSIDE_HOST } from '../harness/outside.ts'
import type { Part } from '../harness/scene.ts'

/** Pods have just started: nothing in them is compiled or cached. */
const FIRST_MS = 60_000

/** An agent signs up, its human confirms it and writes to it, a webhook reports the mail, the agent replies. */
export const exchange: Part = {
  name: 'sign-up, mail in, webhook, reply out, with the public client',
  async run({ server }) {
    const installation = await findInstallation(server)
    const human = `human-${randomName()}@${OUTSIDE_DOMAIN}`
    const { client, inboxId } = await signUp(installation, human)
    await confirm(server, client, human)
    const receiver = await new WebhookReceiver().start(0, OUTSIDE_HOST)
    try {
      const { secret } = await client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'] })
      const messageId = await write(installation, human, inboxId)
      const request = await receiver.next(({ body }) => body.includes(messageId), {
        what: 'the webhook',
        timeout: FIRST_MS,
      })
      verifyWebhook(secret, request)
      await client.inboxes.messages.reply(inboxId, messageId, { text: 'Yes. How can I help?' })
      const reply = await server.next(human, {
        matches: ({ parsed }) => parsed.inReplyTo === messageId,
        timeout: FIRST_MS,
      })
      assert.equal(reply.parsed.from?.value[0]?.address, inboxId)
      assert.equal(reply.secure, true)
    } finally {
      await receiver.stop()
    }
    return `${inboxId} answered ${human}`
  },
}

async function signUp({ gatewayUrl }: Installation, humanEmail: string) {
  const anonymous = new AgentMailClient({ baseUrl: gatewayUrl, apiKey: '' })
  const { apiKey, inboxId } = await anonymous.agent.signUp({ username: `agent-${randomName()}`, humanEmail })
  return { client: new AgentMailClient({ baseUrl: gatewayUrl, apiKey, maxRetries: 0 }), inboxId }
}

async function confirm(server: MailPeer, client: AgentMailClient, human: string): Promise<void> {
  const mail = await server.next(human, {
    matches: ({ parsed }) => /code/i.test(parsed.subject ?? ''),
    timeout: FIRST_MS,
  })
  const [otpCode] = /\b\d{6}\b/.exec(mail.parsed.text ?? '') ?? []
  assert.ok(otpCode, 'the mail to the human contains no code')
  await client.agent.verify({ otpCode })
}

/** The human writes a mail. @returns its Message-ID. */
async function write({ smtp }: Installation, from: string, to: string): Promise<string> {
  const messageId = `<${randomName()}@${OUTSIDE_DOMAIN}>`
  const mail = { from, to, messageId, subject: 'Are you there?', text: 'Are you?', localAddress: OUTSIDE_HOST }
  // The address of the load balancer may refuse while kube-proxy writes its rules.
  await waitFor(() => sendMail({ ...smtp, ...mail }), { what: 'the mail to be accepted', timeout: FIRST_MS })
  return messageId
}
