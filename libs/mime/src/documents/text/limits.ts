/** Limits for hostile documents. */
export interface DocumentLimits {
  /** Characters of the extracted text; what comes after them is left out. */
  readonly characters: number
  /** Bytes of the inflated members of a package that are read, together. */
  readonly inflatedBytes: number
  /** Members of a package, whether they are read or not. */
  readonly members: number
  /** Levels of elements inside elements, and of groups inside groups. */
  readonly depth: number
}

/** Why a document has no text that can be shown. Another attempt would have the same result. */
export type UnreadableReason = 'encrypted' | 'damaged' | 'too_large' | 'no_text' | 'not_a_document'

/** The document has no text that can be shown. */
export class UnreadableDocumentError extends Error {
  readonly reason: UnreadableReason

  constructor(reason: UnreadableReason, options?: ErrorOptions) {
    super(`The document is unreadable: ${reason}`, options)
    this.name = 'UnreadableDocumentError'
    this.reason = reason
  }
}
