import { type Relationship, relationshipsOf } from '../package/relationships.ts'
import { localName, readXml } from '../package/xml.ts'
import type { ZipPackage } from '../package/zip-package.ts'
import type { DocumentLimits } from '../text/limits.ts'
import type { PlainText } from '../text/plain-text.ts'
import { OfficeText } from './office-text.ts'

/** The text of slides in their order, each with its notes, separated by empty lines (ECMA-376 part 1, 13.3). */
export async function readSlides(
  zip: ZipPackage,
  main: string,
  out: PlainText,
  { depth }: DocumentLimits,
): Promise<void> {
  for (const slide of await slidesOf(zip, main, depth)) {
    if (out.isFull) return
    await readXml(zip.read(slide), new OfficeText(out), depth)
    const notes = (await relationshipsOf(zip, slide, depth)).find(({ type }) => type === 'notesSlide')
    if (notes) await readXml(zip.read(notes.part), new OfficeText(out), depth)
    out.add('\n\n')
  }
}

/** The parts of the slides, in the order of the presentation. */
async function slidesOf(zip: ZipPackage, main: string, depth: number): Promise<string[]> {
  const related = new Map<string, Relationship>()
  for (const relationship of await relationshipsOf(zip, main, depth)) related.set(relationship.id, relationship)
  const slides: string[] = []
  const visitor = {
    open(name: string, attributes: Readonly<Record<string, string>>) {
      if (localName(name) !== 'sldId') return
      const id = Object.entries(attributes).find(([attribute]) => attribute.endsWith(':id'))?.[1]
      const slide = id === undefined ? undefined : related.get(id)
      if (slide?.type === 'slide') slides.push(slide.part)
    },
  }
  await readXml(zip.read(main), visitor, depth)
  return [...new Set(slides)]
}
