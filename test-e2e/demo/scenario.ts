import { randomName, sendMail, verifyWebhook, type WebhookReceiver, waitFor } from '@restante/testkit'
import { type AgentMail, AgentMailClient } from 'agentmail'
import type { CapturedMails } from './captured-mail.ts'
import { detail, heading, result, timed } from './terminal.ts'

export interface Scene {
  /** Base URL of the gateway. */
  readonly api: string
  readonly smtpPort: number
  readonly captured: CapturedMails
  readonly receiver: WebhookReceiver
}

type Event = AgentMail.MessageReceivedEvent | AgentMail.MessageSentEvent | AgentMail.MessageDeliveredEvent
type Socket = Awaited<ReturnType<AgentMailClient['websockets']['connect']>>

/** An agent gets an inbox, a human writes to it, the agent replies. @throws Error at the first step that fails. */
export async function runScenario(scene: Scene): Promise<void> {
  const human = `human-${randomName()}@elsewhere.test`
  const { client, inboxId } = await signUp(scene, human)
  await verify(scene, client, human)
  const { secret, socket, events } = await listen(scene, client, inboxId)
  const received = await receive(scene, { inboxId, human, secret, events })
  await answer(scene, { client, human, received, events })
  await readThread(client, received.message.threadId)
  socket.close()
}

/** Signs an agent up in the name of a human. */
export async function signUp(
  { api }: Pick<Scene, 'api'>,
  human: string,
): Promise<{ client: AgentMailClient; inboxId: string; key: string }> {
  heading(1, 'An agent signs up and names its human')
  const anonymous = new AgentMailClient({ baseUrl: api, apiKey: '' })
  const signedUp = await timed('POST /v0/agent/sign-up', () =>
    anonymous.agent.signUp({ username: `demo-${randomName()}`, humanEmail: human }),
  )
  detail(`inbox   ${signedUp.inboxId}`)
  detail(`human   ${human}`)
  detail(`key     ${signedUp.apiKey.slice(0, 14)}…`)
  const { apiKey: key, inboxId } = signedUp
  return { client: new AgentMailClient({ baseUrl: api, apiKey: key }), inboxId, key }
}

/** Confirms the human of an agent by the code that was mailed. */
export async function verify(
  { captured }: Pick<Scene, 'captured'>,
  client: AgentMailClient,
  human: string,
): Promise<void> {
  heading(2, 'The human reads the code in a mail and gives it to the agent')
  const mail = await timed('the mail is there', () => captured.next(human, ({ subject }) => /code/i.test(subject)))
  const [otpCode] = /\b\d{6}\b/.exec(mail.text) ?? []
  if (otpCode === undefined) throw new Error('the mail to the human contains no code')
  detail(`code    ${otpCode}   (${captured.url})`)
  await timed('POST /v0/agent/verify', () => client.agent.verify({ otpCode }))
}

async function listen({ receiver }: Scene, client: AgentMailClient, inboxId: string) {
  heading(3, 'The agent listens: a webhook and a live stream')
  const { secret } = await timed('POST /v0/webhooks', () =>
    client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'], inboxIds: [inboxId] }),
  )
  const events: Event[] = []
  const socket = await timed('WebSocket /v0, subscribed', () => subscribe(client, inboxId, events))
  return { secret, socket, events }
}

async function subscribe(client: AgentMailClient, inboxId: string, events: Event[]): Promise<Socket> {
  const socket = await client.websockets.connect()
  let subscribed = false
  socket.on('message', (frame) => {
    if (frame.type === 'subscribed') subscribed = true
    if (isEvent(frame)) events.push(frame)
  })
  socket.sendSubscribe({ type: 'subscribe', inboxIds: [inboxId] })
  await waitFor(() => subscribed, { what: 'the answer to the subscription' })
  return socket
}

function isEvent(frame: object): frame is Event {
  return (
    'eventType' in frame && ['message.received', 'message.sent', 'message.delivered'].includes(String(frame.eventType))
  )
}

function isReceived(event: Event): event is AgentMail.MessageReceivedEvent {
  return event.eventType === 'message.received'
}

interface Receiving {
  readonly inboxId: string
  readonly human: string
  readonly secret: string
  readonly events: readonly Event[]
}

async function receive(scene: Scene, { inboxId, human, secret, events }: Receiving) {
  heading(4, 'The human writes a mail')
  await timed(`SMTP 127.0.0.1:${scene.smtpPort}, answered 250`, () =>
    sendMail({
      port: scene.smtpPort,
      from: `A Human <${human}>`,
      to: inboxId,
      subject: 'Are you there?',
      text: 'Hello agent,\n\nare you there?\n\n-- \nA Human\n',
    }),
  )
  const accepted = performance.now()
  const [received] = await Promise.all([
    waitFor(() => events.find(isReceived), {
      what: 'message.received on the stream',
    }).then((event) => {
      result('message.received on the stream', performance.now() - accepted)
      return event
    }),
    scene.receiver
      .next(({ body }) => body.includes(inboxId), { what: 'message.received at the webhook' })
      .then((request) => {
        verifyWebhook(secret, request)
        result('message.received at the webhook, signature verified', performance.now() - accepted)
      }),
  ])
  detail(`from    ${received.message.from}`)
  detail(`text    ${JSON.stringify(received.message.extractedText)}   (without the signature)`)
  return received
}

interface Answering {
  readonly client: AgentMailClient
  readonly human: string
  readonly received: AgentMail.MessageReceivedEvent
  readonly events: readonly Event[]
}

async function answer({ captured }: Scene, { client, human, received, events }: Answering): Promise<void> {
  heading(5, 'The agent answers')
  const { inboxId, messageId } = received.message
  const reply = await timed('POST /v0/inboxes/…/messages/…/reply', () =>
    client.inboxes.messages.reply(inboxId, messageId, { text: 'Yes. How can I help?' }),
  )
  const mail = await timed('the mail reached the human', () =>
    captured.next(human, ({ headers }) => headers['in-reply-to'] === messageId),
  )
  detail(`subject ${mail.subject}`)
  await timed('message.delivered on the stream', () =>
    waitFor(
      () =>
        events.find((event) => event.eventType === 'message.delivered' && event.delivery.messageId === reply.messageId),
      { what: 'message.delivered on the stream' },
    ),
  )
}

async function readThread(client: AgentMailClient, threadId: string): Promise<void> {
  heading(6, 'The conversation')
  const thread = await timed('GET /v0/threads/…', () => client.threads.get(threadId))
  if (thread.messages.length !== 2) throw new Error(`the thread has ${thread.messages.length} messages, not 2`)
  for (const { from, extractedText, labels } of thread.messages) {
    detail(`${from}: ${JSON.stringify(extractedText)}   [${labels.join(', ')}]`)
  }
}
