import { classifyComplaint, readReport } from '../../src/index.ts'
import { reportInText } from '../../src/reports/bounce-text.ts'
import { fixture, mailOf } from '../fixture.ts'

describe('readReport', () => {
  it('leaves an original recipient as it is that the final one shows to be decoded', () => {
    const fields = [
      'Original-Recipient: rfc822; ann+3Dprints@far.test',
      'Final-Recipient: rfc822; ann+3Dprints@far.test',
    ]
    const raw = mailOf(
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.far.test',
      '',
      ...fields,
      'Action: failed',
      'Status: 5.1.1',
      '--b--',
    )
    expect(readReport(raw)).toMatchObject({ recipients: [{ originalRecipient: 'ann+3Dprints@far.test' }] })
  })

  it('reads a bounce, recipient by recipient', () => {
    expect(readReport(fixture('bounce'))).toEqual({
      kind: 'delivery',
      reportingMta: 'mx.far.test',
      originalEnvelopeId: 'env-1',
      originalMessageId: '<sent-1@example.test>',
      recipients: [
        {
          recipient: 'gone@far.test',
          originalRecipient: 'Gone@far.test',
          action: 'failed',
          status: '5.1.1',
          smtpCode: 550,
          diagnostic: '550 5.1.1 <gone@far.test>: Recipient address rejected: User unknown',
          remoteMta: 'mail.far.test',
        },
        { recipient: 'slow@far.test', action: 'delayed', status: '4.4.1' },
      ],
    })
  })

  it.each([
    [String.raw`utf-8; ren\x{E9}e@caf\x{e9}.test`, 'renée@café.test'],
    ['utf-8; renée@café.test', 'renée@café.test'],
    [String.raw`utf-8; a\x{0}\x{D800}@far.test`, `a\\x{0}\ufffd@far.test`],
    ['rfc822; <bo@far.test> (Bo)', 'bo@far.test'],
    ['rfc822; bo+2Btag+3D1@far.test', 'bo+tag=1@far.test'],
    [String.raw`rfc822; a\x{E9}@far.test`, String.raw`a\x{E9}@far.test`],
  ])('reads the original recipient %j as %j', (field, address) => {
    const raw = mailOf(
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      'Content-Type: message/global-delivery-status',
      '',
      'Reporting-MTA: dns; mx.far.test',
      '',
      `Original-Recipient: ${field}`,
      'Action: failed',
      'Status: 5.1.1',
      '--b--',
    )
    expect(readReport(raw)).toMatchObject({ recipients: [{ originalRecipient: address }] })
  })

  it('reads an abuse report', () => {
    expect(readReport(fixture('complaint'))).toEqual({
      kind: 'feedback',
      feedbackType: 'abuse',
      recipients: ['user@provider.test'],
      originalMailFrom: 'desk@example.test',
      originalMessageId: '<sent-2@example.test>',
    })
  })

  it('reads the return path of the original that an abuse report encloses', () => {
    const raw = mailOf(
      'Content-Type: multipart/report; report-type=feedback-report; boundary=b',
      '',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: Fraud',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      'Return-Path: <b+1@bounces.test>',
      'Message-ID: <sent-3@example.test>',
      '--b--',
    )
    expect(readReport(raw)).toEqual({
      kind: 'feedback',
      feedbackType: 'fraud',
      recipients: [],
      originalReturnPath: 'b+1@bounces.test',
      originalMessageId: '<sent-3@example.test>',
    })
  })

  const report = (...status: string[]): Buffer =>
    mailOf(
      'Content-Type: multipart/report; boundary=b',
      '',
      '--b',
      '',
      'words',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      ...status,
      '--b--',
    )

  it('reads a report without the empty line between its groups, and without the original', () => {
    const raw = report(
      'Reporting-MTA: dns; x',
      'Final-Recipient: rfc822; <a@b.test>',
      'Action: Failed (x)',
      'Status: 5.0.0',
    )
    expect(readReport(raw)).toMatchObject({
      recipients: [{ recipient: 'a@b.test', action: 'failed', status: '5.0.0' }],
    })
    expect(readReport(raw)).not.toHaveProperty('originalMessageId')
  })

  it('omits groups without an action, and is about a failure where no group can be read', () => {
    const groups = ['Reporting-MTA: dns; x', '', 'Action: delayed', '', 'Final-Recipient: rfc822; a@b.test']
    expect(readReport(report(...groups))).toMatchObject({ recipients: [{ action: 'delayed' }] })
    expect(readReport(report('Reporting-MTA: dns; x', '', 'Final-Recipient: rfc822; a@b.test'))).toMatchObject({
      recipients: [{ action: 'failed' }],
    })
  })

  it.each([
    ['expired', '4.4.7', 'failed'],
    ['dropped', '5.0.0', 'failed'],
    ['queued', '4.2.0', 'delayed'],
    ['handed-on', '2.0.0', 'delivered'],
  ])('reads the action %s by its status %s', (word, status, action) => {
    const raw = report(
      'Reporting-MTA: dns; x',
      '',
      'Final-Recipient: rfc822; a@b.test',
      `Action: ${word}`,
      `Status: ${status}`,
    )
    expect(readReport(raw)).toMatchObject({ recipients: [{ recipient: 'a@b.test', action, status }] })
  })

  it('reads a delivery status in any multipart, and recipients that only the header names', () => {
    const status = [
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Final-Recipient: rfc822; a@b.test',
      'Action: failed',
    ]
    const mixed = mailOf('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'words', ...status, '--b--')
    expect(readReport(mixed)).toMatchObject({ kind: 'delivery', recipients: [{ recipient: 'a@b.test' }] })
    const exim = mailOf('X-Failed-Recipients: a@b.test, c@d.test', 'Auto-Submitted: auto-replied', '', 'words')
    expect(readReport(exim)).toEqual({
      kind: 'delivery',
      recipients: [
        { recipient: 'a@b.test', action: 'failed' },
        { recipient: 'c@d.test', action: 'failed' },
      ],
    })
  })

  it('does not treat a mail as a report that only looks like one', () => {
    expect(readReport(fixture('plain'))).toBeUndefined()
    expect(readReport(mailOf('Subject: Undelivered Mail Returned to Sender', '', '550 5.1.1'))).toBeUndefined()
    expect(
      readReport(mailOf('Content-Type: multipart/report; boundary=b', '', '--b', '', 'x', '--b--')),
    ).toBeUndefined()
    expect(readReport(Buffer.alloc(0))).toBeUndefined()
  })
})

describe('reportInText', () => {
  it.each([
    [
      'qmail',
      'failure notice',
      'Hi. This is the qmail-send program at x.\n<a@b.test>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 5.1.1 no such user',
      'failed',
      '5.1.1',
    ],
    [
      'Exim',
      'Mail delivery failed: returning message to sender',
      'A message that you sent could not be delivered.\n\n  a@b.test\n    host mx.b.test: 550 unknown',
      'failed',
      undefined,
    ],
    [
      'OpenSMTPD',
      'Delivery status notification: failed',
      'This is the MAILER-DAEMON, please DO NOT REPLY.\na@b.test: 554 5.7.1 blocked',
      'failed',
      '5.7.1',
    ],
    [
      'Yahoo',
      'Failure Notice',
      'Sorry, we were unable to deliver your message. delivery to the following recipient failed\n554: delivery error',
      'failed',
      undefined,
    ],
    ['German', 'Unzustellbar: Angebot', 'Ihre Nachricht konnte nicht zugestellt werden.', 'failed', undefined],
    [
      'a warning',
      'Warning: message 1abc delayed 24 hours',
      'A message has not yet been delivered after 24 hours. No action is required; delivery attempts will continue. 451 later',
      'delayed',
      undefined,
    ],
    [
      'a warning that ended',
      'Delivery delayed',
      'It was delayed, and the message could not be delivered: 550 5.4.7 expired',
      'failed',
      '5.4.7',
    ],
  ])('reads %s', (_name, subject, text, action, status) => {
    const report = reportInText({ subject, text })
    expect(report).toMatchObject({ announced: true, answered: /\d{3}[ :]/.test(text) })
    const address = /a@b\.test/.exec(text)?.[0]
    expect(report?.recipients).toEqual([
      {
        action,
        ...(address !== undefined && { recipient: address }),
        ...(status !== undefined && { status }),
        ...(/\d{3}[ :]/.test(text) && { diagnostic: expect.any(String) }),
      },
    ])
  })

  it.each([
    ['an absence', 'Automatic reply: Offer', 'I am out of the office until Monday, extension 550.'],
    ['an ordinary mail', 'Re: Offer', 'We accept.'],
    ['an empty one', undefined, ''],
  ])('reads nothing in %s', (_name, subject, text) => {
    expect(reportInText({ subject, text })).toBeUndefined()
  })
})

describe('classifyComplaint', () => {
  it.each([
    ['abuse', { type: 'abuse', subType: 'spam' }],
    ['Abuse', { type: 'abuse', subType: 'spam' }],
    [undefined, { type: 'abuse', subType: 'spam' }],
    ['fraud', { type: 'fraud', subType: 'fraud' }],
    ['virus', { type: 'virus', subType: 'virus' }],
    ['other', { type: 'other', subType: 'other' }],
    ['x-unheard-of', { type: 'other', subType: 'other' }],
    ['not-spam', undefined],
    ['auth-failure', undefined],
  ])('%s', (type, expected) => {
    expect(classifyComplaint(type)).toEqual(expected)
  })
})
