import { waitFor } from '@restante/testkit'
import { AgentMail } from 'agentmail'
import { inboxWithMail, mailTo } from '../support/mail.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'

describe('drafts, forwards and references by the public client', () => {
  const system = useSystem()
  const someone = (): string => system.peer.address(newUsername())

  it('are written, listed in each scope, changed and sent', async () => {
    const { client } = system.tenant
    const { inboxId, podId } = await client.inboxes.create({})
    const to = someone()
    const { draftId, attachments = [] } = await client.inboxes.drafts.create(inboxId, {
      to: [to],
      subject: 'Later',
      text: 'Words',
      labels: ['todo'],
      attachments: [{ filename: 'a.txt', content: 'QQ==' }],
    })
    const scopes = [
      client.drafts,
      {
        list: (query: { labels: string[] }) => client.pods.drafts.list(podId, query),
        get: (id: string) => client.pods.drafts.get(podId, id),
      },
      {
        list: (query: { labels: string[] }) => client.inboxes.drafts.list(inboxId, query),
        get: (id: string) => client.inboxes.drafts.get(inboxId, id),
      },
    ]
    for (const scope of scopes) {
      expect((await scope.list({ labels: ['Todo'] })).drafts.map((draft) => draft.draftId)).toContain(draftId)
      expect(await scope.get(draftId)).toMatchObject({ inboxId, text: 'Words', labels: ['draft', 'todo'] })
    }
    const file = await client.inboxes.drafts.getAttachment(inboxId, draftId, attachments[0]?.attachmentId ?? '')
    const download = await fetch(file.downloadUrl)
    expect([download.status, await download.text()]).toEqual([200, 'A'])
    const changed = await client.inboxes.drafts.update(inboxId, draftId, { subject: 'Sooner', addLabels: ['now'] })
    expect(changed).toMatchObject({ subject: 'Sooner', text: 'Words', labels: ['draft', 'todo', 'now'] })
    const sent = await client.inboxes.drafts.send(inboxId, draftId, {})
    expect((await system.peer.server.next(to)).parsed.subject).toBe('Sooner')
    expect((await client.inboxes.messages.get(inboxId, sent.messageId)).labels).toEqual(
      expect.arrayContaining(['sent', 'todo', 'now']),
    )
    await expect(client.drafts.get(draftId)).rejects.toBeInstanceOf(AgentMail.NotFoundError)
  })

  it('are sent when they are due, and fail once when the inbox is paused', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const to = someone()
    const sendAt = new Date(Date.now() + 500)
    const draft = await client.inboxes.drafts.create(inboxId, { to: [to], text: 'Now', sendAt })
    expect(draft).toMatchObject({ sendStatus: 'scheduled', labels: ['draft', 'scheduled'], sendAt })
    await system.peer.server.next(to)
    await system.tenant.api.patch(`/v0/inboxes/${inboxId}`, { status: 'paused' })
    const { draftId } = await client.inboxes.drafts.create(inboxId, { to: [to], text: 'Now', sendAt })
    await waitFor(async () => (await client.drafts.get(draftId)).sendStatus === 'failed' || undefined, {
      what: 'the failure of the draft',
    })
    await client.inboxes.drafts.delete(inboxId, draftId)
  })

  it('reply and forward, with what they answer added when they are sent', async () => {
    const { client } = system.tenant
    const { inboxId, message } = await inboxWithMail(system, { subject: 'Order 7' })
    const { messageId, threadId } = message
    const reply = await client.inboxes.drafts.create(inboxId, { inReplyTo: messageId, text: 'Fine.' })
    expect(reply).toMatchObject({ to: [message.from], subject: 'Re: Order 7', text: 'Fine.' })
    const sent = await client.inboxes.drafts.send(inboxId, reply.draftId, {})
    const copy = await client.inboxes.messages.get(inboxId, sent.messageId)
    expect(copy).toMatchObject({ threadId, inReplyTo: messageId, extractedText: 'Fine.' })
    expect(copy.text).toContain('> How are you?')
  })

  it('forward a message with its files', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const message = await mailTo(system, inboxId, {
      subject: 'Invoice',
      attachments: [{ filename: 'invoice.pdf', content: 'the bytes' }],
    })
    const to = someone()
    const forward = await client.inboxes.messages.forward(inboxId, message.messageId, { to: [to], text: 'Please pay.' })
    expect(forward.threadId).toBe(message.threadId)
    const { parsed } = await system.peer.server.next(to)
    expect(parsed.subject).toBe('Fwd: Invoice')
    expect(parsed.inReplyTo).toBeUndefined()
    expect(parsed.references).toBe(message.messageId)
    expect(parsed.text).toMatch(
      /^Please pay\.\n\n---------- Forwarded message ---------\nFrom: .*\nDate: .*\nSubject: Invoice\nTo: /,
    )
    expect(parsed.attachments.map((file) => [file.filename, file.content.toString().trim()])).toEqual([
      ['invoice.pdf', 'the bytes'],
    ])
    expect((await client.inboxes.messages.get(inboxId, forward.messageId)).extractedText).toBe('Please pay.')
  })

  it('attach a file of another message without its bytes', async () => {
    const { client, api } = { client: system.tenant.client, api: system.tenant.api }
    const [{ inboxId }, other] = await Promise.all([client.inboxes.create({}), client.inboxes.create({})])
    const message = await mailTo(system, inboxId, { attachments: [{ filename: 'a.bin', content: 'bytes' }] })
    const [{ attachmentId = '' } = {}] = message.attachments ?? []
    const { downloadUrl } = await client.inboxes.messages.getAttachment(inboxId, message.messageId, attachmentId)
    const id = encodeURIComponent(message.messageId.slice(1, -1))
    const to = someone()
    await client.inboxes.messages.send(inboxId, {
      to,
      attachments: [{ url: `mid:${id}/${attachmentId}` }, { url: downloadUrl, filename: 'b.bin' }],
    })
    const { parsed } = await system.peer.server.next(to)
    expect(parsed.attachments.map((file) => [file.filename, file.content.toString().trim()])).toEqual([
      ['a.bin', 'bytes'],
      ['b.bin', 'bytes'],
    ])
    const from = { message_id: message.messageId, attachment_id: attachmentId, inbox_id: inboxId }
    const sendFromOther = (attachment: unknown) =>
      api.post(`/v0/inboxes/${other.inboxId}/messages/send`, { to, attachments: [attachment] })
    expect((await sendFromOther(from)).status).toBe(200)
    expect((await system.peer.server.next(to)).parsed.attachments[0]?.filename).toBe('a.bin')
    const missing = [
      [{ ...from, attachment_id: 'none' }, 'Attachment not found'],
      [{ ...from, message_id: '<none@x>' }, 'Message not found'],
      [{ ...from, inbox_id: 'nobody@restante.test' }, 'Inbox not found'],
      [{ url: `mid:${id}/${attachmentId}` }, 'Message not found'],
      [{ url: `${downloadUrl.slice(0, -8)}AAAAAAAA` }, 'File not found'],
    ] as const
    for (const [attachment, message] of missing) {
      expect(await sendFromOther(attachment)).toMatchObject({ status: 404, body: { message } })
    }
  })
})
