import type { ReadMail } from '../read/read-mail.ts'

/** A string, or a reference to a body without the blanks at its ends. */
type Cut = string | { readonly trimmed: 'text' | 'html' }

/** A mail on its way between threads, where each occurrence of a string is copied: a body may have 10 MB. */
export interface SentMail extends Omit<ReadMail, 'extractedText' | 'extractedHtml' | 'searchText'> {
  readonly extractedText?: Cut
  readonly extractedHtml?: Cut
  readonly searchText: Cut
}

/** The mail with each body once. */
export function toSent(mail: ReadMail): SentMail {
  const text = mail.text?.trim()
  const html = mail.html?.trim()
  const cut = (value: string): Cut => {
    if (value === text) return { trimmed: 'text' }
    return value === html ? { trimmed: 'html' } : value
  }
  const { extractedText, extractedHtml, searchText } = mail
  return {
    ...mail,
    ...(extractedText !== undefined && { extractedText: cut(extractedText) }),
    ...(extractedHtml !== undefined && { extractedHtml: cut(extractedHtml) }),
    searchText: cut(searchText),
  }
}

/** The mail as it was read. A trimmed body shares the memory of that body. */
export function fromSent(mail: SentMail): ReadMail {
  const whole = (cut: Cut): string => (typeof cut === 'string' ? cut : (mail[cut.trimmed] ?? '').trim())
  const { extractedText, extractedHtml, searchText, ...rest } = mail
  return {
    ...rest,
    ...(extractedText !== undefined && { extractedText: whole(extractedText) }),
    ...(extractedHtml !== undefined && { extractedHtml: whole(extractedHtml) }),
    searchText: whole(searchText),
  }
}
