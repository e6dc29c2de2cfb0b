import { type Document, modelDocument } from '../answers/document.ts'
import { shownBody } from '../untrusted/body.ts'

interface WithBody {
  readonly text?: string | undefined
  readonly html?: string | undefined
  readonly extracted_text?: string | undefined
  readonly extracted_html?: string | undefined
}

/** Which part of a body is shown. */
export interface Part {
  readonly maxChars: number
  readonly offset?: number | undefined
  /** Whether quoted history and signature belong to it. */
  readonly whole?: boolean | undefined
}

/** Fields of which tools show one, cut, as `extractedText` (what the message adds) or `text` (all of it). */
const BODIES: ReadonlySet<string> = new Set(['text', 'extracted_text'])

/** A message or a draft with a part of its body, and what was left out of it. */
export function withBody(given: WithBody & object, part: Part): Record<string, unknown> {
  const others: Document = Object.fromEntries(Object.entries(given).filter(([name]) => !BODIES.has(name)))
  const body = shownBody(given, part)
  if (body === undefined) return modelDocument(others)
  const { text, ...facts } = body
  return { ...modelDocument(others), [part.whole ? 'text' : 'extractedText']: text, body: facts }
}
