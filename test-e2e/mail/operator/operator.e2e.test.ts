import { MailPeer, waitFor } from '@restante/testkit'
import { OPERATOR_PEER, peerDomain, peerHost } from '../../stack/names.ts'
import { useSystem } from '../../support/suite.ts'
import { newUsername } from '../../support/tenants.ts'

describe('mail to postmaster and abuse of the installation', () => {
  const system = useSystem()
  const operator = `operator@${peerDomain(...OPERATOR_PEER)}`
  let server: MailPeer
  beforeAll(async () => {
    server = await new MailPeer({ host: peerHost(...OPERATOR_PEER), port: system.endpoints.mxPort }).start()
    system.cleanUp(server)
  })

  const forwarded = (subject: string) =>
    waitFor(() => server.mailsTo(operator).find(({ parsed }) => parsed.subject?.includes(subject)), {
      what: 'the forwarded mail',
    })

  it('reaches the operator with the original attached, and the answer to it reaches nobody', async () => {
    const { domain } = system.endpoints
    const subject = newUsername('report')
    await system.peer.send({ to: `abuse@${domain}`, subject, text: 'One of yours sends spam.' })
    const { parsed, mailFrom } = await forwarded(subject)
    expect(parsed.attachments[0]?.contentType).toBe('message/rfc822')
    expect(parsed.attachments[0]?.content.toString()).toContain('One of yours sends spam.')
    expect(parsed.replyTo?.value[0]?.address).toBe(system.peer.address())
    // The server of the operator refuses it later, and sends the mail back as well.
    await system.peer.send({
      envelope: { from: '', to: mailFrom },
      subject: `Undelivered: ${subject}`,
      text: '550 5.1.1',
    })
    const again = system.peer.send({
      to: `postmaster@${domain}`,
      subject,
      headers: { 'X-Loop': `postmaster@${domain}` },
    })
    await expect(again).rejects.toMatchObject({ responseCode: 554 })
    const later = newUsername('later')
    await system.peer.send({ to: `postmaster@${domain}`, subject: later, text: 'Hello' })
    await forwarded(later)
    expect(server.mailsTo(operator).filter(({ parsed: one }) => one.subject?.includes(subject))).toHaveLength(1)
  })

  it('reaches the operator from an inbox here', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const subject = newUsername('question')
    await client.inboxes.messages.send(inboxId, {
      to: `postmaster@${system.endpoints.domain}`,
      subject,
      text: 'Hello?',
    })
    const { parsed } = await forwarded(subject)
    expect(parsed.replyTo?.value[0]?.address).toBe(inboxId)
  })
})
