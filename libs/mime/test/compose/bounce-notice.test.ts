import { simpleParser } from 'mailparser'
import { type BounceNotice, classifyBounce, composeBounceNotice, readReport } from '../../src/index.ts'

const notice: BounceNotice = {
  from: 'mailer-daemon@restante.test',
  to: 'desk@restante.test',
  messageId: '<n@restante.test>',
  date: new Date(60_000),
  reportingMta: 'mail.restante.test',
  original: {
    messageId: '<1@restante.test>',
    acceptedAt: new Date(0),
    header: Buffer.from('Subject: Grüße\r\nMessage-ID: <1@restante.test>\r\n'),
  },
  recipient: 'Ann@outside.example',
  status: '5.1.1',
  diagnostic: '550 5.1.1 no such user',
  remoteMta: 'mx.outside.example',
  attemptedAt: new Date(30_000),
}
const readBack = async (change: Partial<BounceNotice> = {}) => {
  const raw = await composeBounceNotice({ ...notice, ...change })
  return { raw: raw.toString('latin1'), report: readReport(raw), parsed: await simpleParser(raw) }
}

describe('a notice of a failed delivery', () => {
  it('is read as what it says, by the reader of received reports and by another parser', async () => {
    const { raw, report, parsed } = await readBack()
    expect(report).toMatchObject({
      kind: 'delivery',
      recipients: [{ recipient: 'Ann@outside.example', action: 'failed', status: '5.1.1' }],
    })
    expect(classifyBounce({ status: '5.1.1', diagnostic: notice.diagnostic, exhausted: true })).toMatchObject({
      subType: 'NoEmail',
    })
    expect(parsed).toMatchObject({
      subject: 'Undelivered Mail Returned to Sender',
      messageId: '<n@restante.test>',
      inReplyTo: '<1@restante.test>',
      text: expect.stringContaining('could not be delivered to Ann@outside.example.'),
    })
    expect(raw).toMatch(/^Content-Type: multipart\/report; report-type=delivery-status;\r\n boundary=/m)
    expect(raw).toContain('Auto-Submitted: auto-replied\r\n')
    for (const line of [
      'Reporting-MTA: dns; mail.restante.test',
      'Arrival-Date: Thu, 01 Jan 1970 00:00:00 +0000',
      'Remote-MTA: dns; mx.outside.example',
      'Diagnostic-Code: smtp; 550 5.1.1 no such user',
      'Last-Attempt-Date: Thu, 01 Jan 1970 00:00:30 +0000',
    ])
      expect(raw).toContain(`\r\n${line}\r\n`)
    expect(raw).not.toMatch(/[^\r]\n/)
  })

  it('lets nothing that a server said add a field or a line that is too long', async () => {
    const diagnostic = `550 no\r\nAction: delivered\r\n\r\nFinal-Recipient: rfc822; other@x.test ü ${'x'.repeat(5_000)}`
    const { raw, report } = await readBack({ diagnostic, remoteMta: 'mx\r\nStatus: 2.0.0' })
    expect(report).toMatchObject({
      recipients: [{ recipient: 'Ann@outside.example', action: 'failed', status: '5.1.1' }],
    })
    expect(report).toHaveProperty('recipients.length', 1)
    expect(Math.max(...raw.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(998)
    expect(raw).toMatch(/^[\r\n\t\x20-\x7e]*$/)
  })

  it('names an internationalized recipient in 7 bits', async () => {
    const { raw } = await readBack({ recipient: 'jürgen@bücher.example' })
    expect(raw).toContain('Final-Recipient: utf-8; j\\x{FC}rgen@xn--bcher-kva.example\r\n')
  })

  it('names the message where its header is deleted', async () => {
    const { raw } = await readBack({ original: { ...notice.original, header: undefined } })
    expect(raw).toContain('Content-Type: text/rfc822-headers; charset=utf-8\r\n')
    expect(raw.slice(raw.indexOf('text/rfc822-headers'))).toContain('Message-ID: <1@restante.test>\r\n')
  })

  it('keeps the words of the original header', async () => {
    const { parsed } = await readBack()
    expect(JSON.stringify(parsed.attachments.map(({ content }) => content.toString()))).toContain('Grüße')
  })
})
