import { Fence } from '../untrusted/index.ts'
import { type Document, modelDocument } from './document.ts'
import { rendered } from './render.ts'

/** What a tool answers: a document, and the same in text for models whose program shows them no documents. */
export interface Answer {
  readonly structured: Record<string, unknown>
  readonly text: string
}

/**
 * An answer with text of others. In the text form it is between markers that only this answer has (mcp 3).
 * @param lead says in a line what this is.
 * @param document as a model may read it (`modelDocument`).
 * @param next how to go on.
 */
export function quoted(lead: string, document: Record<string, unknown>, next: readonly string[] = []): Answer {
  const fence = new Fence()
  const text = [lead, fence.notice, fence.around(rendered(document)), ...next].join('\n')
  return { structured: document, text }
}

/** A page of a list, under the name that its entries have. */
export function page(name: string, given: Document & { readonly count: number }): Answer {
  const document = modelDocument(given)
  const { nextPageToken: token } = document
  if (given.count === 0 && token === undefined) return { structured: document, text: `There are no ${name}.` }
  const next = typeof token === 'string' ? [`There are more: call again with pageToken ${JSON.stringify(token)}.`] : []
  return quoted(`This page has ${given.count} of the ${name}.`, document, next)
}

/** An answer in which nothing is from others. */
export function plain(text: string, structured: Record<string, unknown>): Answer {
  return { structured, text }
}

/** The answer to a change that has no document (mcp 2). */
export function done(text: string): Answer {
  return plain(text, { success: true })
}
