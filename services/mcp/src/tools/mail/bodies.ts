import { type Document, modelDocument } from '../../answers/document.ts'
import type { Bodies, BodyOptions, BodyReader } from '../../untrusted/index.ts'

/**
 * Of the bodies a tool shows one, cut: `extractedText` (what the message adds) or `text` (all of it). A preview would be its
 * beginning once more.
 */
const BODIES: ReadonlySet<string> = new Set(['text', 'extracted_text', 'preview'])

/** A message or a draft with a part of its body, and what was left out of it. */
export async function withBody(
  reader: BodyReader,
  given: Bodies,
  options: BodyOptions,
): Promise<Record<string, unknown>> {
  const others: Document = Object.fromEntries(Object.entries(given).filter(([name]) => !BODIES.has(name)))
  const { text, ...facts } = await reader.read(given, options)
  return { ...modelDocument(others), [options.full ? 'text' : 'extractedText']: text, body: facts }
}
