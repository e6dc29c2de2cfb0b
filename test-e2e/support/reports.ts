interface Report {
  /** Domain of the server that reports. */
  readonly reporter: string
  /** The recipient of reports about the mail: its envelope sender. */
  readonly returnPath: string
  readonly recipient: string
  /** Enhanced status code, as `5.1.1`. */
  readonly status: string
}

/** A delivery status notification as mail servers write it (RFC 3464). */
export function deliveryReport({ reporter, returnPath, recipient, status }: Report): string {
  const boundary = 'report-boundary'
  return [
    `From: Mail Delivery System <MAILER-DAEMON@${reporter}>`,
    `To: ${returnPath}`,
    'Subject: Undelivered Mail Returned to Sender',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain',
    '',
    'Your message could not be delivered.',
    '',
    `--${boundary}`,
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; ${reporter}`,
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    `Status: ${status}`,
    '',
    `--${boundary}--`,
    '',
  ].join('\r\n')
}
