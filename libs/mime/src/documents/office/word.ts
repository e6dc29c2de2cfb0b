import { relationshipsOf } from '../package/relationships.ts'
import { readXml } from '../package/xml.ts'
import type { ZipPackage } from '../package/zip-package.ts'
import type { DocumentLimits } from '../text/limits.ts'
import type { PlainText } from '../text/plain-text.ts'
import { OfficeText } from './office-text.ts'

/** Parts that are shown in front of the text, and after it. */
const BEFORE = ['header']
const AFTER = ['footer', 'footnotes', 'endnotes', 'comments']

/** The text of a word processor's document, with headers, footers, notes and comments (ECMA-376 part 1, 11.3). */
export async function readWord(
  zip: ZipPackage,
  main: string,
  out: PlainText,
  { depth }: DocumentLimits,
): Promise<void> {
  const related = await relationshipsOf(zip, main, depth)
  const partsOf = (types: readonly string[]) =>
    types.flatMap((type) => related.filter((relationship) => relationship.type === type).map(({ part }) => part))
  for (const part of new Set([...partsOf(BEFORE), main, ...partsOf(AFTER)])) {
    if (out.isFull) return
    await readXml(zip.read(part), new OfficeText(out), depth)
    out.add('\n')
  }
}
