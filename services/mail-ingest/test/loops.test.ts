import { randomUUID } from 'node:crypto'
import { LoopDetectedError, withoutLoops } from '../src/inbound/loops.ts'
import { traceLines } from '../src/pipeline/conclusion/trace-lines.ts'

const HOSTNAME = 'mx.mail.test'
const INBOX = 'desk@mail.test'

/** What we put above a mail on its way into an inbox. */
function traceFor(recipient: string, via: 'smtp' | 'internal' = 'smtp', hostname = HOSTNAME): string {
  const envelope =
    via === 'internal'
      ? ({ via, mail_from: '' } as const)
      : ({
          via,
          mail_from: 'ada@customer.test',
          peer: '192.0.2.1',
          helo: 'by.customer.test',
          protocol: 'ESMTPS',
          tls: 'TLSv1.3 AES',
          smtputf8: false,
        } as const)
  const inbox = { organization_id: '', pod_id: '', inbox_uid: '', address: INBOX }
  const mail = {
    id: randomUUID(),
    leaseId: randomUUID(),
    target: { kind: 'mail' as const, inbox },
    recipient,
    blob: 'inbound/x',
    size: 1,
    envelope,
    receivedAt: new Date(),
    attempts: 1,
    slow: false,
    overdue: false,
    lane: 'lane',
    orphaned: false,
    listed: false,
  }
  return traceLines(mail, hostname, `Authentication-Results: ${hostname}; none\r\n`)
}

/** Sends a mail through in chunks of some size. */
async function pass(mail: string, chunk: number, inboxes = [INBOX], mark?: string): Promise<string> {
  async function* chunks() {
    const bytes = Buffer.from(mail)
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  }
  const passed: Buffer[] = []
  for await (const bytes of withoutLoops(chunks(), { hostname: HOSTNAME, inboxes, mark })) passed.push(bytes)
  return Buffer.concat(passed).toString()
}

const rest = 'Subject: x\r\n\r\nReceived: in the body\r\n'
const hops = (count: number) => 'received : by elsewhere\r\n\twith folding\r\n'.repeat(count)

describe('the bytes of a mail', () => {
  it.each([1, 2, 3, 7, 100_000])('pass unchanged in chunks of %i bytes when there is no loop', async (chunk) => {
    const mail = traceFor(INBOX) + hops(49) + rest
    expect(await pass(mail, chunk)).toBe(mail)
    expect(await pass('\r\nReceived: by x\r\n'.repeat(60), chunk)).toHaveLength(60 * 18)
    expect(await pass('Subject: never ends', chunk)).toBe('Subject: never ends')
  })

  it.each([1, 2, 3, 7, 100_000])('are refused in chunks of %i bytes after more than 50 hops', async (chunk) => {
    await expect(pass(hops(51) + rest, chunk)).rejects.toThrow(LoopDetectedError)
    await expect(pass(hops(51), chunk)).rejects.toThrow(LoopDetectedError)
  })

  it.each([
    ['by SMTP', traceFor(INBOX) + traceFor('Desk+tag@MAIL.test')],
    ['inside', traceFor(INBOX, 'internal') + traceFor(INBOX, 'internal')],
    ['in both ways', traceFor(INBOX, 'internal') + hops(3) + traceFor(INBOX)],
  ])('are refused when the mail was at the inbox twice before, %s', async (_, header) => {
    await expect(pass(header + rest, 50)).rejects.toThrow(LoopDetectedError)
  })

  it.each([
    ['once', traceFor(INBOX)],
    ['twice, but to another inbox', traceFor('other@mail.test') + traceFor('other@mail.test')],
    ['twice, but at another installation', traceFor(INBOX, 'smtp', 'mx.other.test').repeat(2)],
    ['twice, says a field that is no trace', `Subject: by ${HOSTNAME} for <${INBOX}>;\r\n`.repeat(2)],
  ])('pass when the mail came %s', async (_, header) => {
    expect(await pass(header + rest, 50)).toBe(header + rest)
  })
})

describe('the mark of mail that was forwarded to the operator', () => {
  const MARK = 'postmaster@mail.test'

  it.each(['X-Loop: postmaster@mail.test', 'x-loop :\r\n\tPostmaster@Mail.test '])(
    'stops mail to the operator: %j',
    async (field) => {
      await expect(pass(`${field}\r\n${rest}`, 100, [], MARK)).rejects.toThrow(LoopDetectedError)
      await expect(pass(`${field}\r\n${rest}`, 100, [])).resolves.toBeDefined()
    },
  )

  it('stops nothing in the body, and no other address', async () => {
    await expect(pass(`X-Loop: list@far.test\r\n${rest}X-Loop: ${MARK}\r\n`, 100, [], MARK)).resolves.toBeDefined()
  })
})
