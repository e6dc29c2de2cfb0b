import { type Document, modelDocument } from '../answers/document.ts'
import { type Bodies, type BodyOptions, shownBody } from '../untrusted/index.ts'

/** Fields of which tools show one, cut, as `extractedText` (what the message adds) or `text` (all of it). */
const BODIES: ReadonlySet<string> = new Set(['text', 'extracted_text'])

/** A message or a draft with a part of its body, and what was left out of it. */
export function withBody(given: Bodies, options: BodyOptions): Record<string, unknown> {
  const others: Document = Object.fromEntries(Object.entries(given).filter(([name]) => !BODIES.has(name)))
  const { text, ...facts } = shownBody(given, options)
  return { ...modelDocument(others), [options.full ? 'text' : 'extractedText']: text, body: facts }
}
