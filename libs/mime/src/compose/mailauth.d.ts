/** The parts of mailauth that sign several times, and with a known hash of the body; it declares its entry points only. */
declare module 'mailauth/lib/dkim/dkim-signer.js' {
  import type { Writable } from 'node:stream'
  import type { HeaderRow } from 'mailauth/lib/tools.js'

  export interface SignerOptions {
    readonly canonicalization: string
    readonly headerList: readonly string[]
    readonly signatureData: readonly {
      readonly signingDomain: string
      readonly selector: string
      readonly privateKey: string
    }[]
    /** Base64. With it and the header nothing has to be written. */
    readonly bodyHash?: string
    readonly headers?: { readonly parsed: readonly HeaderRow[] }
  }

  /** Signs what is written to it. */
  export class DkimSigner extends Writable {
    constructor(options: SignerOptions)
    readonly signatureHeaders: readonly string[]
    readonly errors: readonly { readonly selector?: string; readonly err: Error }[]
    finalize(): Promise<void>
  }
}

declare module 'mailauth/lib/tools.js' {
  export interface HeaderRow {
    /** Lower case; missing in a line without a name. */
    readonly key?: string
    readonly casedKey?: string
    /** All lines of the field, without the last line break. */
    readonly line: Buffer
  }

  export function parseHeaders(header: Buffer): { readonly parsed: readonly HeaderRow[] }
}
