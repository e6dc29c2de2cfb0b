interface Report {
  /** Domain of the server that reports. */
  readonly reporter: string
  /** The recipient of reports about the mail: its envelope sender. */
  readonly returnPath: string
}

interface DeliveryReport extends Report {
  readonly recipient: string
  /** Enhanced status code, as `5.1.1`. */
  readonly status: string
}

interface ComplaintReport extends Report {
  /** `abuse`, `fraud`, `not-spam`. */
  readonly feedbackType: string
  /** The mail that is complained about. */
  readonly original: Buffer
}

/** A delivery status notification as mail servers write it (RFC 3464). */
export function deliveryReport({ recipient, status, ...report }: DeliveryReport): string {
  return reportOf({ ...report, type: 'delivery-status', subject: 'Undelivered Mail Returned to Sender' }, [
    ['text/plain', 'Your message could not be delivered.\r\n'],
    [
      'message/delivery-status',
      `Reporting-MTA: dns; ${report.reporter}\r\n\r\nFinal-Recipient: rfc822; ${recipient}\r\nAction: failed\r\nStatus: ${status}\r\n`,
    ],
  ])
}

/** A complaint as providers write it (RFC 5965). */
export function complaintReport({ feedbackType, original, ...report }: ComplaintReport): string {
  return reportOf({ ...report, type: 'feedback-report', subject: 'FW: complaint' }, [
    ['text/plain', 'This is an abuse report.\r\n'],
    ['message/feedback-report', `Feedback-Type: ${feedbackType}\r\nUser-Agent: Test/1.0\r\nVersion: 1\r\n`],
    ['message/rfc822', original.toString('latin1')],
  ])
}

function reportOf(
  { reporter, returnPath, type, subject }: Report & { readonly type: string; readonly subject: string },
  parts: readonly (readonly [type: string, content: string])[],
): string {
  const boundary = 'report-boundary'
  return [
    `From: Mail Delivery System <MAILER-DAEMON@${reporter}>`,
    `To: ${returnPath}`,
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
    '',
    ...parts.flatMap(([contentType, content]) => [`--${boundary}`, `Content-Type: ${contentType}`, '', content]),
    `--${boundary}--`,
    '',
  ].join('\r\n')
}
