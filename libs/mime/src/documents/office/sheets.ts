import { type Relationship, relationshipsOf } from '../package/relationships.ts'
import { localName, readXml } from '../package/xml.ts'
import type { ZipPackage } from '../package/zip-package.ts'
import type { DocumentLimits } from '../text/limits.ts'
import type { PlainText } from '../text/plain-text.ts'
import { NumberFormats } from './number-formats.ts'
import { SharedStrings } from './shared-strings.ts'
import { SheetText } from './sheet-text.ts'

interface Sheet {
  readonly name: string
  readonly part: string
}

/** The sheets of a workbook in their order, each under its name, separated by empty lines (ECMA-376 part 1, 12.3). */
export async function readSheets(
  zip: ZipPackage,
  main: string,
  out: PlainText,
  { depth }: DocumentLimits,
): Promise<void> {
  const related = await relationshipsOf(zip, main, depth)
  const partOf = (wanted: string) => related.find(({ type }) => type === wanted)?.part ?? ''
  const [strings, formats] = [new SharedStrings(), new NumberFormats()]
  const sheets = await sheetsOf(zip, { main, related, formats, depth })
  await readXml(zip.read(partOf('styles')), formats, depth)
  await readXml(zip.read(partOf('sharedStrings')), strings, depth)
  for (const { name, part } of sheets) {
    if (out.isFull) return
    out.add(`${name}\n`)
    await readXml(zip.read(part), new SheetText(out, { strings, formats }), depth)
    out.add('\n\n')
  }
}

interface Workbook {
  readonly main: string
  readonly related: readonly Relationship[]
  readonly formats: NumberFormats
  readonly depth: number
}

async function sheetsOf(zip: ZipPackage, { main, related, formats, depth }: Workbook): Promise<Sheet[]> {
  const parts = new Map(related.filter(({ type }) => type === 'worksheet').map(({ id, part }) => [id, part]))
  const sheets = new Map<string, Sheet>()
  const visitor = {
    open(qualified: string, attributes: Readonly<Record<string, string>>) {
      const name = localName(qualified)
      if (name === 'workbookPr') formats.isFrom1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '')
      if (name !== 'sheet') return
      const id = Object.entries(attributes).find(([attribute]) => attribute.endsWith(':id'))?.[1]
      const part = id === undefined ? undefined : parts.get(id)
      if (part !== undefined) sheets.set(part, { name: attributes['name'] ?? '', part })
    },
  }
  await readXml(zip.read(main), visitor, depth)
  return [...sheets.values()]
}
