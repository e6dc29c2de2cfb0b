import type { RunResult } from '../support/mail-run.ts'
import type { OddMail, Shown } from './odd-mail.ts'

/** What is read of a mail, for each member that is expected of it. */
export function shownOf({ message, files = [] }: RunResult<OddMail>, expected: Shown): Shown {
  if (message === undefined) return {}
  const attachments = message.attachments ?? []
  const found: Record<keyof Shown, unknown> = {
    subject: message.subject ?? null,
    from: message.from,
    to: message.to,
    text: excerpt(message.text, expected.text),
    html: excerpt(message.html, expected.html),
    files: attachments.map(({ filename, content_type }) => filename ?? `(${content_type})`),
    type: attachments.length === 1 ? attachments[0].content_type : undefined,
    content: files.length === 1 ? files[0]?.toString('latin1') : undefined,
  }
  return Object.fromEntries(Object.entries(found).filter(([name]) => name in expected))
}

/** The expected piece where the text has it, otherwise the text. */
function excerpt(text: string | undefined, piece: string | null | undefined): string | null {
  if (text === undefined) return null
  return typeof piece === 'string' && text.includes(piece) ? piece : text.slice(0, 200)
}
