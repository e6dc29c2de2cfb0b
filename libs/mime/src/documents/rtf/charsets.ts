/** Code pages of the character sets of fonts (RTF 1.9.1, `\fcharset`). */
const CODE_PAGES: Readonly<Record<number, number>> = {
  0: 1252,
  77: 10_000,
  128: 932,
  129: 949,
  130: 1361,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 850,
}

/** The code page of a font's character set; undefined where the set is the document's own. */
export function codePageOf(fontCharset: number): number | undefined {
  return CODE_PAGES[fontCharset]
}

/** The name by which a decoder knows a code page. */
export function charsetOf(codePage: number): string {
  if (codePage === 65_001) return 'utf-8'
  return codePage === 10_000 ? 'macintosh' : `cp${codePage}`
}
