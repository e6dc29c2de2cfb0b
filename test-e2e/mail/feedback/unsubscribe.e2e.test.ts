import { waitFor } from '@restante/testkit'
import { useSystem } from '../../support/suite.ts'
import { newUsername } from '../../support/tenants.ts'

const FIELD = /^List-Unsubscribe: <(\S+)>,\r\n <mailto:(\S+)\?subject=unsubscribe>\r\n/m

describe('a recipient', () => {
  const system = useSystem()
  const inboxes = () => system.tenant.client.inboxes

  /** A mail to somebody, and how that somebody unsubscribes. */
  async function mailed() {
    const { inboxId } = await inboxes().create({})
    const to = system.peer.address(newUsername())
    const send = () => inboxes().messages.send(inboxId, { to, subject: 'News', text: 'Hello' })
    await send()
    const { raw } = await system.peer.server.next(to)
    const [, link = '', address = ''] = FIELD.exec(raw.toString()) ?? []
    const refused = () =>
      expect(send()).rejects.toMatchObject({
        statusCode: 403,
        body: expect.objectContaining({ message: expect.stringContaining('Unsubscribed via List-Unsubscribe') }),
      })
    return { inboxId, to, link, address, refused, send }
  }

  it('unsubscribes with one click, and not by opening the link', async () => {
    const { to, link, refused, send } = await mailed()
    const page = await fetch(link)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(`${to[0]}•••@`)])
    await send()
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
    const answer = await fetch(link, { method: 'POST', body, redirect: 'error' })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('You are unsubscribed')])
    await refused()
  })

  it('unsubscribes with a mail', async () => {
    const { to, address, refused, send } = await mailed()
    await system.peer.send({ envelope: { from: to, to: address }, raw: `From: ${to}\r\nSubject: unsubscribe\r\n\r\n` })
    await waitFor(
      () =>
        send().then(
          () => undefined,
          () => true,
        ),
      { what: 'the entry' },
    )
    await refused()
  })

  it('that does not exist leads to a notice in the thread of the message', async () => {
    const { inboxId } = await inboxes().create({})
    const gone = system.peer.address(newUsername('gone'))
    system.peer.server.answerRecipient(gone, '550 5.1.1 no such mailbox')
    const { threadId } = await inboxes().messages.send(inboxId, { to: gone, subject: 'News', text: 'Hello' })
    const notice = await waitFor(
      async () =>
        (await inboxes().messages.list(inboxId, { labels: ['received'] })).messages.find(
          ({ subject }) => subject === 'Undelivered Mail Returned to Sender',
        ),
      { what: 'the notice' },
    )
    expect(notice).toMatchObject({ threadId, labels: ['received', 'unread'] })
  })
})
