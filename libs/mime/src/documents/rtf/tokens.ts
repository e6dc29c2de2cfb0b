/** One element of RTF (RTF 1.9.1, "RTF Syntax"). */
export type RtfToken =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  | { readonly kind: 'word'; readonly word: string; readonly value: number | undefined }
  | { readonly kind: 'symbol'; readonly symbol: string }
  /** Bytes in the code page of the current font, as characters of Latin-1. */
  | { readonly kind: 'bytes'; readonly bytes: string }

const TOKEN = /\\(?:'([0-9a-f]{2})|([a-z]{1,32})(-?\d{1,10})? ?|([\s\S]))|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\$/giy

/** The tokens of RTF, in order. Binary data is left out. Any text has tokens. @param rtf bytes as characters of Latin-1 */
export function* rtfTokens(rtf: string): Generator<RtfToken> {
  const token = new RegExp(TOKEN)
  for (let match = token.exec(rtf); match !== null; match = token.exec(rtf)) {
    const [, hex, word, value, symbol, brace, bytes] = match
    if (bytes !== undefined) yield { kind: 'bytes', bytes }
    else if (hex !== undefined) yield { kind: 'bytes', bytes: String.fromCharCode(Number.parseInt(hex, 16)) }
    else if (brace !== undefined) yield { kind: brace === '{' ? 'open' : 'close' }
    else if (symbol !== undefined) yield { kind: 'symbol', symbol }
    else if (word === 'bin') token.lastIndex += Math.max(0, Number(value ?? 0))
    else if (word !== undefined) yield { kind: 'word', word, value: value === undefined ? undefined : Number(value) }
    if (token.lastIndex >= rtf.length) return
  }
}
