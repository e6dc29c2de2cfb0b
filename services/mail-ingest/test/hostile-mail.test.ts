import { sendMail, waitFor } from '@restante/testkit'
import { pathOf } from './mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from './stage.ts'

let stage: Stage
let inbox: TestInbox

beforeAll(async () => {
  stage = await openStage()
}, 60_000)
afterAll(() => stage.stop(), 30_000)
beforeEach(async () => {
  inbox = await stage.inbox()
})

/** Sends the bytes and resolves to the stored message, and to what the fact says of how it was read. */
async function store(raw: string | Buffer) {
  await sendMail({ port: stage.smtpPort, envelope: { from: 'eve@evil.test', to: inbox.address }, raw })
  const list = () => stage.call(inbox.caller, 'messages.list', 'GET', '/messages?include_spam=true')
  await waitFor(async () => (await list()).body.count === 1, { what: 'the mail', timeout: 20_000 })
  const [{ message_id }] = (await list()).body.messages
  return (await stage.call(inbox.caller, 'messages.get', 'GET', pathOf(message_id))).body
}

const head = 'From: Eve <eve@evil.test>\r\nMIME-Version: 1.0\r\n'

describe('a hostile mail is stored', () => {
  it('with NUL and broken characters in header and body', async () => {
    const subject = '=?utf-8?b?YQBi?= =?utf-16?b?2AA=?='
    const raw = `${head}Subject: ${subject}\r\nX-Nul: a\0b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\na\0b \xff\r\n`
    const message = await store(Buffer.from(raw, 'latin1'))
    expect(JSON.stringify(message)).not.toMatch(/\\u0000|\\ud8/)
    expect(message.text).toMatch(/^ab /)
  })

  it('with hundreds of parts and deep nesting', async () => {
    const open = Array.from(
      { length: 200 },
      (_, level) => `--b${level}\r\nContent-Type: multipart/mixed; boundary=b${level + 1}\r\n\r\n`,
    )
    const parts =
      '--b200\r\nContent-Type: text/plain; name="x.txt"\r\nContent-Disposition: attachment\r\n\r\nx\r\n'.repeat(2_000)
    const message = await store(
      `${head}Subject: deep\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n${open.join('')}${parts}`,
    )
    expect(message.subject).toBe('deep')
  })

  it('with huge headers, and its event stays small', async () => {
    const to = Array.from({ length: 5_000 }, (_, index) => `"Name ${index}" <user${index}@x.test>`).join(',\r\n ')
    const references = Array.from({ length: 3_000 }, (_, index) => `<${index}@x.test>`).join('\r\n ')
    const message = await store(
      `${head}To: ${to}\r\nReferences: ${references}\r\nSubject: ${'s'.repeat(50_000)}\r\n\r\nx\r\n`,
    )
    expect(message.subject.length).toBeLessThanOrEqual(4_000)
    expect(message.references.length).toBeLessThanOrEqual(200)
  })

  it('with html and attachments that only pretend', async () => {
    const html = `<div>${'<table><tr><td>'.repeat(5_000)}x`
    const attachment =
      'Content-Type: a"b\\c; name="../../etc/passwd\\"; x"\r\nContent-Disposition: attachment\r\n\r\nx\r\n'
    const message = await store(
      `${head}Subject: html\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b\r\n${attachment}--b--\r\n`,
    )
    const [listed] = message.attachments
    const path = `${pathOf(message.message_id)}/attachments/${listed.attachment_id}`
    const { body } = await stage.call(inbox.caller, 'messages.getAttachment', 'GET', path)
    const file = await fetch(body.download_url.replace('http://public.test/v0', stage.url))
    expect(file.status).toBe(200)
    expect(file.headers.get('content-disposition')).not.toMatch(/[/\\]/)
  })

  it('without any header at all', async () => {
    const message = await store('just words\r\n')
    expect(message).toMatchObject({ from: 'eve@evil.test', to: [], labels: ['received', 'unread'] })
  })

  it('with 20 MB of attachment', async () => {
    const line = `${'QUJD'.repeat(19)}\r\n`
    const content = line.repeat(Math.ceil((20 * 1024 * 1024) / line.length))
    const raw = `${head}Subject: big\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${content}`
    const message = await store(raw)
    expect(message.attachments).toHaveLength(1)
    expect(message.attachments[0].size).toBeGreaterThan(14_000_000)
  })
})
