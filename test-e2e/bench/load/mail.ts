/** The size of mail that rates are measured with: most mail of people is smaller, most mail of machines is larger. */
export const USUAL_BYTES = 10_000

export interface MailOptions {
  readonly from: string
  readonly to: string
  readonly messageId: string
  /** Size of the text; default `USUAL_BYTES`. */
  readonly bytes?: number
}

/** A plain mail with lines of words, as SMTP sends it. */
export function mailText({ from, to, messageId, bytes = USUAL_BYTES }: MailOptions): string {
  const line = 'The quick brown fox jumps over the lazy dog, and then it rests for a while.\r\n'
  return [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: Measured ${messageId}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${messageId}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    line.repeat(Math.ceil(bytes / line.length)),
  ].join('\r\n')
}
