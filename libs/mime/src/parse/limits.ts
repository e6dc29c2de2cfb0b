/** How much of a hostile mail is looked at. Whatever lies beyond is left out and the result says `truncated`. */
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
  /** Message ids of `References`; the newest are kept. */
  readonly references: number
  /** Decoded bytes of the text body and, apart from it, of the html body. */
  readonly bodyBytes: number
}

export const DEFAULT_LIMITS: ParseLimits = {
  headerBytes: 256 * 1024,
  headerFields: 1_000,
  parts: 500,
  depth: 30,
  addresses: 1_000,
  references: 200,
  bodyBytes: 10 * 1024 * 1024,
}

/** The state of one parse: its limits, and whether any of them was met. */
export interface Budget {
  readonly limits: ParseLimits
  parts: number
  truncated: boolean
}

export function newBudget(limits: Partial<ParseLimits> = {}): Budget {
  return { limits: { ...DEFAULT_LIMITS, ...limits }, parts: 0, truncated: false }
}
