import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { API_KEY_PREFIX_LENGTH } from '@restante/contracts/vocabulary'
import { HandshakeRefusedError, StreamClient, WebhookReceiver, waitFor } from '@restante/testkit'
import { sendMessage } from './mcp/client.ts'
import { Api } from './support/api.ts'
import { codeFor, mailTo } from './support/mail.ts'
import { useSystem } from './support/suite.ts'
import { createTenant, newUsername } from './support/tenants.ts'
import { callTool } from './support/tools.ts'

/** Mails with secret words, well-formed or not. */
const PLACES = [
  'subject that came',
  'text that came',
  'html that came',
  'file that came',
  'document that came',
  'document that is damaged',
  'subject that went',
  'text that went',
  'subject that bounced',
  'text of a reply',
  'text of a broken body',
  'text of a refused body',
  'text of a search',
] as const

/** A unique word. */
const word = () => `w${randomBytes(12).toString('hex')}`

/** A key without its prefix, which lists show. */
const secretOf = (key: string) => key.slice(API_KEY_PREFIX_LENGTH)

describe('the logs of all services', () => {
  const system = useSystem()
  async function logs(): Promise<{ name: string; text: string }[]> {
    const { logs: folder } = system.endpoints
    const names = await readdir(folder)
    return Promise.all(names.map(async (name) => ({ name, text: await readFile(path.join(folder, name), 'utf8') })))
  }

  /** Waits until every service has logged the previous requests. */
  async function written(api: Api): Promise<void> {
    const id = word()
    await api.get('/v0/threads', { headers: { 'x-request-id': id } })
    const logged = async () => (await logs()).filter(({ text }) => text.includes(id)).length >= 2
    await waitFor(logged, { what: 'the last request in the logs of the gateway and of the service behind it' })
  }

  it('contain no key, however it was sent', async () => {
    const { key, api } = await createTenant(system.endpoints)
    const created = await api.post('/v0/api-keys', {})
    const second = String(created.body['api_key'])
    const wrong = `${key.slice(0, -6)}${key.endsWith('0'.repeat(6)) ? '1'.repeat(6) : '0'.repeat(6)}`
    const nobody = new Api(system.endpoints.gatewayUrl)
    await new Api(system.endpoints.gatewayUrl, second).get('/v0/auth/me')
    await new Api(system.endpoints.gatewayUrl, wrong).get('/v0/auth/me')
    await nobody.get(`/v0/auth/me?api_key=${key}`)
    for (const authorization of [`Basic ${key}`, key, `Bearer ${key} x`, `bearer ${key}`]) {
      await nobody.get('/v0/auth/me', { headers: { authorization } })
    }
    await api.get(`/v0/inboxes/${key}`)
    await api.get(`/v0/threads?page_token=${key}`)
    await api.post('/v0/inboxes', { username: key, client_id: `${key}@` })
    await api.post('/v0/inboxes', `{"api_key":"${key}`)
    for (const sent of [key, second, wrong]) {
      await sendMessage(system.endpoints, sent, 'tools/list')
      const args = { inboxId: key, subject: second, to: [wrong], api_key: key }
      for (const tool of ['get_inbox', 'send_message', key]) {
        await sendMessage(system.endpoints, sent, 'tools/call', { name: tool, arguments: args })
      }
    }
    await nobody.post(`/mcp?api_key=${key}`, {})
    const stream = await StreamClient.open(`${system.endpoints.streamUrl}?api_key=${second}`)
    await stream.ask({ type: 'subscribe', inbox_ids: [key] })
    await stream.close()
    await expect(StreamClient.open(`${system.endpoints.streamUrl}?auth_token=${wrong}`)).rejects.toThrow(
      HandshakeRefusedError,
    )
    // The only service that gets keys: from the gateway, for the time of a request.
    await callTool(system.endpoints, key, 'auth_me', {})
    await callTool(system.endpoints, key, 'get_inbox', { inboxId: 'nobody@nowhere.test' })
    await callTool(system.endpoints, key, 'get_inbox', { inboxId: 7 })
    await written(api)
    await expectNone({ first: secretOf(key), second: secretOf(second), wrong: secretOf(wrong) })
  })

  it('contain no mail content, and no webhook secret or header', async () => {
    const { client, api } = system.tenant
    const receiver = await new WebhookReceiver().start()
    system.cleanUp(receiver)
    receiver.script(500)
    const token = word()
    const hook = await client.webhooks.create({
      url: receiver.url,
      eventTypes: ['message.received'],
      headers: { 'X-Token': token },
    })
    const { inboxId } = await client.inboxes.create({})
    const words = Object.fromEntries(PLACES.map((endpoints) => [endpoints, word()]))
    const hidden = (endpoints: (typeof PLACES)[number]) => String(words[endpoints])
    const message = await mailTo(system, inboxId, {
      subject: hidden('subject that came'),
      text: hidden('text that came'),
      html: `<p>${hidden('html that came')}</p>`,
      attachments: [
        { filename: 'a.rtf', content: `{\\rtf1 ${hidden('document that came')}}` },
        { filename: 'a.pdf', content: `%PDF-1.7 ${hidden('document that is damaged')}` },
        { filename: 'a.txt', content: hidden('file that came') },
      ],
    })
    await waitFor(
      async () => {
        const found = await client.inboxes.messages.search(inboxId, { q: hidden('document that came') })
        return found.count > 0
      },
      { what: 'the text of the document' },
    )
    await waitFor(() => receiver.requests.length > 0, { what: 'the request of the webhook' })
    const to = system.peer.address(newUsername())
    const mail = { subject: hidden('subject that went'), text: hidden('text that went') }
    await client.inboxes.messages.send(inboxId, { to: [to], ...mail })
    await system.peer.server.next(to)
    const nobody = [`${newUsername()}@nowhere.invalid`]
    await client.inboxes.messages.send(inboxId, { to: nobody, subject: hidden('subject that bounced'), text: 'x' })
    await client.inboxes.messages.reply(inboxId, message.messageId, { text: hidden('text of a reply') })
    const send = `/v0/inboxes/${encodeURIComponent(inboxId)}/messages/send`
    await api.post(send, `{"to":"${to}","text":"${hidden('text of a broken body')}`)
    await api.post(send, { to, subject: 7, text: hidden('text of a refused body') })
    await api.get(`/v0/threads?subject=${hidden('text of a search')}`)
    await written(api)
    await expectNone({ ...words, token, secret: hook.secret.slice('whsec_'.length) })
  })

  it('contain no verification code', async () => {
    const human_email = system.peer.address(newUsername('human'))
    const nobody = new Api(system.endpoints.gatewayUrl)
    const { body } = await nobody.post('/v0/agent/sign-up', { username: newUsername('agent'), human_email })
    const key = String(body['api_key'])
    const api = new Api(system.endpoints.gatewayUrl, key)
    const code = await codeFor(system.peer, human_email)
    expect((await api.post('/v0/agent/verify', { otp_code: code })).status).toBe(200)
    await written(api)
    await expectNone({ key: secretOf(key) })
    // Six digits may be part of another number; as a separate word they are the code.
    const found = (await logs()).filter(({ text }) => new RegExp(`[\\s"':]${code}[\\s"'.,\\\\]`).test(text))
    expect(found.map(({ name }) => name)).toEqual([])
  })

  /** @param hidden texts that no log may contain, by their meaning. */
  async function expectNone(hidden: Readonly<Record<string, string>>): Promise<void> {
    for (const { name, text } of await logs()) {
      const found = Object.keys(hidden).filter((what) => text.includes(hidden[what] ?? ''))
      expect([name, found]).toEqual([name, []])
    }
  }
})
