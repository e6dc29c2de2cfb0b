/** Limits for hostile mail. Content beyond a limit is left out and the result says `truncated`. */
export interface ParseLimits {
  /** Bytes of the header block of one part. */
  readonly headerBytes: number
  /** Header fields of one part. */
  readonly headerFields: number
  /** MIME parts of the whole mail, containers included. */
  readonly parts: number
  /** Levels of multipart inside multipart; a container below is one attachment. */
  readonly depth: number
  /** Mailboxes of one address list. */
  readonly addresses: number
  /** Message ids of `References`, of which the newest are kept, and of `In-Reply-To`, of which the first are. */
  readonly references: number
  /** Decoded bytes of the text body and, separately, of the html body. */
  readonly bodyBytes: number
  /** Characters of a text body up to which its reply is extracted; longer ones are not honest, and cost seconds. */
  readonly extractedText: number
  /** Lines of a text body up to which the same is done. */
  readonly textLines: number
  /** The same of an html body. */
  readonly extractedHtml: number
  /** Tags of an html body up to which the same is done. */
  readonly htmlTags: number
}

/** The state of one parse: its limits, and whether any of them was reached. */
export interface Budget {
  readonly limits: ParseLimits
  truncated: boolean
}

export function newBudget(limits: ParseLimits): Budget {
  return { limits, truncated: false }
}
