/** The parts of mailauth that write canonical headers and bodies, and signature fields; it declares its entry points only. */
declare module 'mailauth/lib/dkim/header/index.js' {
  import type { HeaderRow } from 'mailauth/lib/tools.js'

  /** The fields that are signed, and the names for `h=`, which may be more. */
  export interface SigningFields {
    readonly headers: readonly HeaderRow[]
    /** Separated by colons. */
    readonly keys: string
  }

  export interface SignatureOptions {
    readonly signingDomain: string
    readonly selector: string
    readonly algorithm: string
    readonly canonicalization: string
    /** Base64. */
    readonly bodyHash: string
  }

  export function generateCanonicalizedHeader(
    type: 'DKIM',
    fields: SigningFields,
    options: SignatureOptions,
  ): { readonly canonicalizedHeader: Buffer; readonly dkimHeaderOpts: Readonly<Record<string, unknown>> }
}

declare module 'mailauth/lib/dkim/body/index.js' {
  /** Hashes the canonical form of a body. */
  export function dkimBody(
    canonicalization: string,
    algorithm: 'sha256',
  ): { update(chunk: Buffer): void; digest(encoding: 'base64'): string }
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

  /** A signature field, without its line break. */
  export function formatSignatureHeaderLine(
    type: 'DKIM',
    tags: Readonly<Record<string, unknown>>,
    folded: boolean,
  ): string
}
