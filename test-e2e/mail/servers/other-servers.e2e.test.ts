import { randomInt } from 'node:crypto'
import { sendMail, waitFor } from '@restante/testkit'
import { Postfix } from '../../support/programs/postfix.ts'
import { describeWith, output } from '../../support/programs/programs.ts'
import { useSystem } from '../../support/suite.ts'

/** Address and domain of another mail server. */
const newPeer = () => [randomInt(1, 255), randomInt(1, 255)] as const

describeWith({ programs: ['swaks'] }, 'swaks', () => {
  const system = useSystem()

  async function deliver(subject: string, ...options: string[]) {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const transcript = await output('swaks', [
      ...['--server', `127.0.0.1:${system.endpoints.smtpPort}`, '--local-interface', system.peer.server.host],
      ...['--from', system.peer.address(), '--to', inboxId],
      ...['--h-Subject', subject, '--body', 'Hello from the command line.', ...options],
    ])
    const message = await waitFor(async () => (await client.inboxes.messages.list(inboxId)).messages[0], {
      what: 'the mail of swaks',
    })
    return { transcript, message: await client.inboxes.messages.get(inboxId, message.messageId) }
  }

  it('delivers in plain text', async () => {
    const { transcript, message } = await deliver('Grüße')
    expect(transcript).toMatch(/^<- {2}250 /m)
    expect(message).toMatchObject({ subject: 'Grüße', labels: ['received', 'unread'] })
    expect(message.extractedText).toBe('Hello from the command line.')
  })

  it('delivers encrypted by STARTTLS', async () => {
    const { transcript, message } = await deliver('Secret', '--tls')
    expect(transcript).toContain('TLS started with cipher TLS')
    expect(message.subject).toBe('Secret')
    expect(message.headers?.['Received']).toMatch(/with ESMTPS/)
  })

  it('pipelines', async () => {
    const { message } = await deliver('Quick', '--pipeline')
    expect(message.subject).toBe('Quick')
  })
})

describeWith({ programs: ['postfix'], root: true }, 'Postfix', () => {
  const system = useSystem()
  let postfix: Postfix
  beforeAll(async () => {
    postfix = system.cleanUp(await Postfix.start(system.endpoints, ...newPeer()))
  })

  const submit = (to: string, subject: string) =>
    sendMail({
      host: postfix.host,
      port: postfix.port,
      from: `Human <human@${postfix.domain}>`,
      to,
      subject,
      text: 'By way of Postfix.',
    })

  it('delivers to an inbox, encrypted', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    await submit(inboxId, 'Relayed')
    const message = await waitFor(async () => (await client.inboxes.messages.list(inboxId)).messages[0], {
      what: 'the mail that Postfix relays',
    })
    expect(message).toMatchObject({ subject: 'Relayed', from: `Human <human@${postfix.domain}>` })
    expect(message.labels).toEqual(['received', 'unread'])
  })

  it('gets an immediate refusal of an unknown recipient', async () => {
    await submit(`nobody-here@${system.endpoints.domain}`, 'To nobody')
    const log = await waitFor(
      async () => ((await postfix.log()).includes('status=bounced') ? postfix.log() : undefined),
      {
        what: 'the bounce in the log of Postfix',
      },
    )
    expect(log).toMatch(
      /nobody-here@.*dsn=5\.1\.1, status=bounced \(host 127\.0\.0\.1\[127\.0\.0\.1\] said: 550 5\.1\.1/,
    )
  })

  it('receives mail from an inbox', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({ displayName: 'Agent Ä' })
    const { messageId } = await client.inboxes.messages.send(inboxId, {
      to: `human@${postfix.domain}`,
      subject: 'To Postfix',
      text: 'With love.',
    })
    const mail = await postfix.mail('human', messageId)
    expect(mail).toContain(`Message-ID: ${messageId}\n`)
    expect(mail).toMatch(/^Return-Path: <b\+.+@bounces\.restante\.test>/m)
    await waitFor(async () => (await client.inboxes.messages.get(inboxId, messageId)).labels.includes('delivered'), {
      what: 'the delivery to be known',
    })
  })

  it('refuses an unknown mailbox, which bounces the message', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const { messageId } = await client.inboxes.messages.send(inboxId, {
      to: `gone@${postfix.domain}`,
      subject: 'To nobody',
      text: 'Hello?',
    })
    await waitFor(async () => (await client.inboxes.messages.get(inboxId, messageId)).labels.includes('bounced'), {
      what: 'the bounce to be known',
    })
  })
})
