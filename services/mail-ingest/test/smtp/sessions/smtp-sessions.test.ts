import { connect } from 'node:net'
import { SmtpSession, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../../fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const mail = (subject: string) => `From: ada@x.test\r\nSubject: ${subject}\r\n\r\nbody\r\n`
const listed = async () => (await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')).body.messages
const subjects = async (count: number): Promise<string[]> => {
  const messages = await waitFor(async () => (await listed()).length === count && listed(), { what: `${count} mails` })
  return messages.map(({ subject }: { subject: string }) => subject).sort()
}

describe('an SMTP session', () => {
  it('processes pipelined commands in order, mails included', async () => {
    const smtp = await SmtpSession.open(fixture.smtpPort)
    await smtp.command('EHLO client.test')
    const envelope = `MAIL FROM:<ada@x.test>\r\nRCPT TO:<${inbox.address}>\r\nDATA\r\n`
    smtp.write(`${envelope}${mail('one')}.\r\n${envelope}${mail('two')}.\r\nQUIT\r\n`)
    const codes: number[] = []
    for (let reply = 0; reply < 9; reply++) codes.push((await smtp.reply()).code)
    expect(codes).toEqual([250, 250, 354, 250, 250, 250, 354, 250, 221])
    expect(await subjects(2)).toEqual(['one', 'two'])
    smtp.drop()
  })

  it('clears sender and recipients at RSET, after a refused mail, and after each mail', async () => {
    const smtp = await SmtpSession.open(fixture.smtpPort)
    await smtp.envelope('ada@x.test', inbox.address)
    await smtp.command('RSET')
    expect((await smtp.command('DATA')).code).toBe(503)
    await smtp.envelope('ada@x.test', inbox.address)
    await smtp.command('DATA')
    smtp.write(`${'x'.repeat(998)}\r\n`.repeat(42_000))
    expect((await smtp.command('.')).code).toBe(552)
    expect((await smtp.command('DATA')).code).toBe(503)
    await smtp.envelope('ada@x.test', inbox.address)
    expect((await smtp.data(mail('good'))).code).toBe(250)
    expect((await smtp.command('DATA')).code).toBe(503)
    await smtp.quit()
    expect(await subjects(1)).toEqual(['good'])
  })

  it('reads the same mail however its bytes are split into packets', async () => {
    const smtp = await SmtpSession.open(fixture.smtpPort)
    await smtp.envelope('ada@x.test', inbox.address)
    await smtp.command('DATA')
    const text = 'From: ada@x.test\r\nSubject: cut\r\n\r\n..\r\n...two\r\n..\r\nend\r\n'
    for (const byte of `${text}.\r\n`) {
      smtp.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await smtp.reply()).code).toBe(250)
    await smtp.quit()
    await subjects(1)
    const [{ message_id }] = await listed()
    const { body } = await fixture.call(
      inbox.caller,
      'messages.get',
      'GET',
      `/messages/${encodeURIComponent(message_id)}`,
    )
    expect(body.text).toBe('.\n..two\n.\nend\n')
  })

  it('discards plain-text input from before STARTTLS, even in the same packet', async () => {
    const smtp = await SmtpSession.open(fixture.smtpPort)
    await smtp.envelope('injected@x.test', inbox.address)
    await smtp.startTls()
    expect((await smtp.command(`RCPT TO:<${inbox.address}>`)).code).toBe(503)
    await smtp.envelope('ada@x.test', inbox.address)
    expect((await smtp.data(mail('private'))).code).toBe(250)
    await smtp.quit()

    const raw = connect(fixture.smtpPort, '127.0.0.1')
    raw.setEncoding('latin1')
    // A reset is an end like any other.
    raw.on('error', () => {})
    let said = ''
    raw.on('data', (text) => {
      said += text
    })
    await waitFor(async () => said.startsWith('220 '), { what: 'the greeting' })
    raw.write('EHLO client.test\r\n')
    await waitFor(async () => said.includes('250 '), { what: 'the answer to EHLO' })
    said = ''
    raw.write('STARTTLS\r\nMAIL FROM:<injected@x.test>\r\nNOOP\r\n')
    await waitFor(async () => said.includes('220 '), { what: 'the answer to STARTTLS' })
    raw.write('NOOP\r\n')
    await waitFor(() => raw.closed, { what: 'the end of the connection' })
    expect(said).not.toContain('250')
    expect(await subjects(1)).toEqual(['private'])
  })

  it('is refused to a client that sends before the greeting', async () => {
    const raw = connect(fixture.smtpPort, '127.0.0.1')
    raw.setEncoding('latin1')
    // A reset is an end like any other.
    raw.on('error', () => {})
    let said = ''
    raw.on('data', (text) => {
      said += text
    })
    raw.write(`EHLO client.test\r\nMAIL FROM:<ada@x.test>\r\n`)
    await waitFor(() => raw.closed, { what: 'the end of the connection' })
    expect(said).toMatch(/^421 /)
    expect(said).not.toContain('250')
  })
})
