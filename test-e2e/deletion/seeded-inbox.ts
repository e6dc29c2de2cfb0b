import { type WebhookReceiver, waitFor } from '@restante/testkit'
import type { Endpoints } from '../stack/endpoints.ts'
import { newAccount, newApp, newWaitingSignIn } from '../support/apps/accounts.ts'
import { calendarOf, newFeed, newSeries, wallTime } from '../support/calendars.ts'
import type { OutsidePeer } from '../support/peers.ts'
import { newUsername, type Tenant } from '../support/tenants.ts'
import type { Markers } from './traces.ts'

export interface SeededInbox {
  readonly inboxId: string
  readonly username: string
  readonly markers: Markers
  readonly ownKey: string
  /** Webhooks of the inbox, webhooks that filter by it alone, and webhooks that filter by it and another inbox. */
  readonly webhooks: { readonly own: string; readonly narrow: string; readonly both: string; readonly wide: string }
  readonly thread: string
  /** A message that the recipient's server defers. */
  readonly waiting: { readonly messageId: string; readonly recipient: string }
}

interface Surroundings {
  readonly tenant: Tenant
  readonly peer: OutsidePeer
  readonly neighbour: string
  readonly receiver: WebhookReceiver
  readonly endpoints: Endpoints
}

/** A unique word for each thing that an inbox can leave behind. */
function newMarkers(): Record<string, string> {
  const names = ['address', 'display', 'alias', 'metadata', 'key', 'url', 'idempotency']
  const content = [
    'subject',
    'body',
    'html',
    'attachment',
    'filename',
    'label',
    'sender',
    'recipient',
    'sent',
    'waiting',
    'meeting',
  ]
  return Object.fromEntries([...names, ...content].map((name) => [name, newUsername(name).toLowerCase()]))
}

/**
 * Creates an inbox with everything that an inbox can have, and with everything that pod and organization can store of
 * it.
 */
export async function seedInbox(surroundings: Surroundings): Promise<SeededInbox> {
  const { tenant, neighbour, receiver } = surroundings
  const { api, client } = tenant
  const markers = newMarkers()
  const word = (name: string) => markers[name] ?? ''
  const username = word('address')
  const { inboxId } = await client.inboxes.create({
    username,
    displayName: `Ada ${word('display')}`,
    clientId: word('alias'),
    metadata: { note: word('metadata') },
  })
  const hook = { url: receiver.url, eventTypes: ['message.received' as const] }
  const [own, narrow, both, wide, key] = await Promise.all([
    client.inboxes.webhooks.create(inboxId, { ...hook, url: `${receiver.url}/${word('url')}` }),
    client.webhooks.create({ ...hook, inboxIds: [inboxId] }),
    client.webhooks.create({ ...hook, inboxIds: [inboxId, neighbour] }),
    client.webhooks.create(hook),
    api.post(`/v0/inboxes/${encodeURIComponent(inboxId)}/api-keys`, { name: word('key') }),
  ])
  const mail = new Correspondence(surroundings, inboxId, word)
  const thread = await mail.receive()
  await mail.send()
  await signIn(surroundings, inboxId, word('idempotency'))
  await meet(surroundings, inboxId, word('meeting'))
  return {
    inboxId,
    username,
    markers,
    ownKey: String(key.body['api_key']),
    webhooks: { own: own.webhookId, narrow: narrow.webhookId, both: both.webhookId, wide: wide.webhookId },
    thread,
    waiting: await mail.sendLater(),
  }
}

/** An account, which was disabled once; the link of another sign-in; and one that waits in a browser. */
async function signIn({ tenant: { api }, endpoints }: Surroundings, inboxId: string, key: string): Promise<void> {
  const app = await newApp(endpoints)
  const account = await newAccount(endpoints, app, inboxId)
  const answers = [
    await api.patch(`/v0/accounts/${account}`, { status: 'disabled' }),
    await api.patch(`/v0/accounts/${account}`, { status: 'enabled' }),
    await api.post(`/v0/apps/${app}/connect`, { inbox_id: inboxId }, { headers: { 'idempotency-key': key } }),
    await api.post(`/v0/inboxes/${encodeURIComponent(inboxId)}/authorize`, {
      auth_token: await newWaitingSignIn(endpoints, app),
    }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 202, 200])
}

/** A series whose first date runs, whose second was changed and whose third was cancelled, and the address of a feed. */
async function meet({ tenant: { api } }: Surroundings, inboxId: string, text: string): Promise<void> {
  const start = wallTime(-60_000)
  const fields = { title: text, description: text, location: text, metadata: { note: text }, client_id: text }
  const attendees = [{ email: `${text}@guests.example` }]
  const series = await newSeries(api, inboxId, { ...fields, attendees, start, end: wallTime(3_600_000) })
  const dated = (day: number) => `${series}_t${nextDay(start, day).replaceAll(/[-:]/g, '')}`
  const path = `${calendarOf(inboxId)}/events`
  const answers = [
    await api.patch(`${path}/${dated(1)}`, { title: `${text} moved` }),
    await api.delete(`${path}/${dated(2)}`),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 202])
  await newFeed(api, inboxId)
}

function nextDay(wall: string, days: number): string {
  return new Date(Date.parse(`${wall}Z`) + days * 86_400_000).toISOString().slice(0, 19)
}

/** The mail of a seeded inbox. */
class Correspondence {
  readonly #surroundings: Surroundings
  readonly #inboxId: string
  readonly #word: (name: string) => string

  constructor(surroundings: Surroundings, inboxId: string, word: (name: string) => string) {
    this.#surroundings = surroundings
    this.#inboxId = inboxId
    this.#word = word
  }

  /**
   * Two threads, one of them with a reply; a label; a mail that the neighbour received too. @returns the first thread.
   */
  async receive(): Promise<string> {
    const { peer, neighbour, tenant } = this.#surroundings
    const to = this.#inboxId
    const word = this.#word
    const from = `${word('sender')}@${peer.domain}`
    const newId = () => `<${newUsername('id')}@${peer.domain}>`
    const [first, answer] = [newId(), newId()]
    const subject = word('subject')
    const text = `${word('body')}\n`
    const attachments = [{ filename: `${word('filename')}.txt`, content: `${word('attachment')} `.repeat(20) }]
    await peer.send({ from, to, messageId: first, subject, text, html: `<p>${word('html')}</p>`, attachments })
    const { threadId } = await this.#labelled(first, 'received')
    await peer.send({ from, to, messageId: answer, inReplyTo: first, subject: `Re: ${subject}`, text })
    const envelope = { from: peer.address(), to: [to, neighbour] }
    await peer.send({ envelope, from: peer.address(), to: neighbour, subject: 'For both', text: 'Both' })
    await this.#labelled(answer, 'received')
    await tenant.client.inboxes.messages.update(to, first, { addLabels: [word('label')] })
    return threadId
  }

  /** A message under an idempotency key, and one whose copy is deleted. */
  async send(): Promise<void> {
    const { peer, tenant } = this.#surroundings
    const word = this.#word
    const message = { to: `${word('recipient')}@${peer.domain}`, subject: word('sent'), text: word('sent') }
    const path = `/v0/inboxes/${encodeURIComponent(this.#inboxId)}/messages/send`
    const sent = await tenant.api.post(path, message, { headers: { 'idempotency-key': word('idempotency') } })
    if (sent.status !== 200) throw new Error(`the message was refused: ${JSON.stringify(sent.body)}`)
    const { messageId } = await tenant.client.inboxes.messages.send(this.#inboxId, message)
    await this.#labelled(messageId, 'delivered')
    await tenant.client.inboxes.messages.delete(this.#inboxId, messageId)
  }

  /** Sends a message that the recipient's server defers. */
  async sendLater(): Promise<SeededInbox['waiting']> {
    const { peer, tenant } = this.#surroundings
    const recipient = peer.address(newUsername('later'))
    peer.server.answerRecipient(recipient, ...Array.from({ length: 500 }, () => '450 4.2.0 later' as const))
    const message = { to: recipient, subject: this.#word('waiting'), text: 'Later' }
    const { messageId } = await tenant.client.inboxes.messages.send(this.#inboxId, message)
    await this.#labelled(messageId, 'delayed')
    return { messageId, recipient }
  }

  #labelled(messageId: string, label: string) {
    const { client } = this.#surroundings.tenant
    return waitFor(
      async () => {
        const message = await client.inboxes.messages.get(this.#inboxId, messageId)
        return message.labels.includes(label) && message
      },
      { what: `${messageId} to be ${label}` },
    )
  }
}
