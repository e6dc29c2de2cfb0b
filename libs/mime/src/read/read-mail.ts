import { extractReplyHtml } from '../extract/html.ts'
import { preview } from '../extract/preview.ts'
import { extractReply } from '../extract/text.ts'
import { htmlToText } from '../html/render.ts'
import { affordableLength, isAffordable } from '../limits/affordable.ts'
import { newBudget, type ParseLimits } from '../limits/limits.ts'
import { type ParsedMail, parseStructure } from '../parse/mail.ts'
import { readStructure } from '../parse/structure.ts'
import { type Report, reportIn } from '../reports/report.ts'

/** Everything that the mailbox stores about a received mail in addition to its raw bytes. */
export interface ReadMail extends ParsedMail {
  /** Present with `text`. */
  readonly extractedText?: string
  /** Present with `html`. */
  readonly extractedHtml?: string
  /** Present with `text`. */
  readonly preview?: string
  /** The text by which search finds the mail: extracted text, else text, else the text of the html (mail 17). */
  readonly searchText: string
  /** When the mail is a delivery or abuse report. */
  readonly report?: Report
}

/** `readMail` for a thread, which is sent its limits. */
export function readWithin(raw: Buffer, limits: ParseLimits): ReadMail {
  const budget = newBudget(limits)
  const root = readStructure(raw, budget)
  const mail = parseStructure(raw, root, budget)
  const report = reportIn(raw, root, budget)
  const { text, html } = mail
  const extractedText = text === undefined ? undefined : orWhole(extractReply, text, isAffordable(text, limits))
  const affordable = html === undefined ? 0 : affordableLength(html, limits)
  return {
    ...mail,
    ...(extractedText !== undefined && { extractedText }),
    ...(text !== undefined && { preview: preview(text) }),
    ...(html !== undefined && { extractedHtml: orWhole(extractReplyHtml, html, html.length <= affordable) }),
    searchText: extractedText?.trim() || text?.trim() || htmlToText((html ?? '').slice(0, affordable)),
    ...(report !== undefined && { report }),
  }
}

/** Extraction must never make reading the message fail (mail 14). */
function orWhole(extract: (body: string) => string, body: string, affordable: boolean): string {
  if (!affordable) return body.trim()
  try {
    return extract(body)
  } catch {
    return body
  }
}
