/** Messages of one source that a receiver treated alike. */
export interface DmarcRow {
  readonly sourceIp: string
  /** What the receiver did with them. */
  readonly disposition: string
  /** `pass` or `fail`: whether an aligned signature, or SPF of an aligned domain, passed. */
  readonly dkim: string
  readonly spf: string
  readonly messages: number
}

/** A DMARC aggregate report (RFC 7489 appendix C): what its sender says it got from a domain. */
export interface DmarcReport {
  /** Unique among the reports of its sender. */
  readonly id: string
  /** Domain whose policy was applied: lower case. */
  readonly domain: string
  /** Start of the time that it covers, in milliseconds since 1970. */
  readonly begin: number
  readonly rows: readonly DmarcRow[]
}

/** Limits for hostile reports. */
export interface DmarcLimits {
  /** Bytes of the XML. */
  readonly inflatedBytes: number
  /** How many times larger than the attachment the XML may be. */
  readonly ratio: number
  /** Different rows; the messages of equal ones are added. */
  readonly rows: number
  /** Members of a zip archive. */
  readonly members: number
}
