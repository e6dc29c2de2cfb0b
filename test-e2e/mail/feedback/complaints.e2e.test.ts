import { complaintReport } from '../../support/reports.ts'
import { eventAbout, openStream, typesAbout } from '../../support/streams.ts'
import { useSystem } from '../../support/suite.ts'
import { newUsername } from '../../support/tenants.ts'

describe('a complaint about a sent mail', () => {
  const system = useSystem()

  /** A mail that somebody has received, and how its server complains about it. */
  async function delivered() {
    const { client, key } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const stream = await openStream(system.endpoints, key, { inbox_ids: [inboxId] })
    system.cleanUp({ stop: () => stream.close() })
    const send = async (to: string) =>
      (await client.inboxes.messages.send(inboxId, { to, subject: 'Offer', text: 'Buy.' })).messageId
    const to = system.peer.address(newUsername())
    const messageId = await send(to)
    const { mailFrom, raw } = await system.peer.server.next(to)
    await eventAbout(stream, messageId, 'message.delivered')
    const complain = (feedbackType: string, returnPath = mailFrom) => {
      const from = `feedback@${system.peer.domain}`
      const report = { reporter: system.peer.domain, returnPath, feedbackType, original: raw }
      return system.peer.send({ envelope: { from, to: returnPath }, raw: complaintReport(report) })
    }
    const entry = () => client.lists.get('send', 'block', to)
    const labels = async () => (await client.inboxes.messages.get(inboxId, messageId)).labels
    return { stream, send, to, messageId, mailFrom, complain, entry, labels }
  }

  /** Resolves when one about another mail, which comes now, has had its effect. */
  async function laterComplaint(): Promise<void> {
    const { stream, messageId, complain } = await delivered()
    await complain('abuse')
    await eventAbout(stream, messageId, 'message.complained')
  }

  it('ends in its event and label, once, and in a list entry that nobody can delete', async () => {
    const { stream, send, to, messageId, complain, entry, labels } = await delivered()
    for (let times = 0; times < 3; times++) await complain('abuse')
    expect(await eventAbout(stream, messageId, 'message.complained')).toMatchObject({
      complaint: { type: 'abuse', sub_type: 'spam', recipients: [to] },
    })
    expect(await labels()).toContain('complained')
    expect(await entry()).toMatchObject({ reason: 'complained', readOnly: true })
    await expect(send(to)).rejects.toMatchObject({
      statusCode: 403,
      body: expect.objectContaining({ message: `Message rejected: Recipient(s) blocked: ${to} (complained)` }),
    })
    await laterComplaint()
    expect(typesAbout(stream, messageId).filter((type) => type === 'message.complained')).toHaveLength(1)
  })

  it('changes nothing when it says that the mail is no spam, or names a return path that was never issued', async () => {
    const { stream, messageId, mailFrom, complain, entry, labels } = await delivered()
    await complain('not-spam')
    const [local = '', domain = ''] = mailFrom.split('@')
    const forged = `${local.slice(0, -1)}${local.endsWith('0') ? '1' : '0'}@${domain}`
    await expect(complain('abuse', forged)).rejects.toMatchObject({ responseCode: 550 })
    await laterComplaint()
    expect(await labels()).not.toContain('complained')
    expect(typesAbout(stream, messageId)).toEqual(['message.sent', 'message.delivered'])
    await expect(entry()).rejects.toMatchObject({ statusCode: 404 })
  })
})
