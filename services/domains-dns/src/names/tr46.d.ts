/** Unicode compatibility processing of domain names (UTS #46). */
declare module 'tr46' {
  export interface UnicodeOptions {
    /** RFC 5893. */
    readonly checkBidi?: boolean
    /** Refuses hyphens at the ends of a label, and in its third and fourth place. */
    readonly checkHyphens?: boolean
    /** RFC 5892, appendix A. */
    readonly checkJoiners?: boolean
    readonly ignoreInvalidPunycode?: boolean
    readonly transitionalProcessing?: boolean
    /** Of ASCII only letters, digits and hyphens. */
    readonly useSTD3ASCIIRules?: boolean
  }

  export interface AsciiOptions extends UnicodeOptions {
    /** Labels of 1 to 63 octets, and 253 octets in all. */
    readonly verifyDNSLength?: boolean
  }

  /** @returns null for a name that is not valid. */
  export function toASCII(domain: string, options?: AsciiOptions): string | null
  export function toUnicode(
    domain: string,
    options?: UnicodeOptions,
  ): { readonly domain: string; readonly error: boolean }
}
