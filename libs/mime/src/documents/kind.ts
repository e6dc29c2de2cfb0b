/** How the bytes of a document are read. */
export type DocumentKind = 'pdf' | 'package' | 'rtf'

/** Bytes at the beginning of a file from which `documentKind` tells what it is. */
export const KIND_BYTES = 1024

/**
 * What a file is, by its first bytes: its name and its declared type may say anything. A package is a zip archive, which
 * may hold anything. @returns undefined for a file that is no document
 */
export function documentKind(start: Uint8Array): DocumentKind | undefined {
  const text = Buffer.from(start.buffer, start.byteOffset, Math.min(start.length, KIND_BYTES)).toString('latin1')
  if (text.startsWith('PK\x03\x04')) return 'package'
  if (text.startsWith('{\\rtf')) return 'rtf'
  // Readers accept what a server or a printer wrote in front of it (ISO 32000-1, annex H.3.4.1).
  return text.includes('%PDF-') ? 'pdf' : undefined
}
