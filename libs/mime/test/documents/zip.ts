import { crc32, deflateRawSync } from 'node:zlib'

export interface Member {
  readonly name: string
  readonly content: Buffer
  /** The size that the archive declares; by default the real one. */
  readonly declared?: number
}

/** A zip archive of these members (APPNOTE 4.3). */
export function zipOf(members: readonly Member[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, declared = content.length } of members) {
    const data = deflateRawSync(content)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(declared, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    const position = Buffer.alloc(14)
    position.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, position, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(members.length, 4)
  end.writeUInt16LE(members.length, 6)
  end.writeUInt32LE(size, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, ...directory, Buffer.from('PK\x05\x06'), end])
}

export const textOf = (name: string, content: string): Member => ({ name, content: Buffer.from(content) })

/** A package of Office Open XML whose main part is `main`, with further parts that it refers to by type. */
export function officeOf(main: string, related: Readonly<Record<string, string>> = {}): Buffer {
  const parts = Object.entries(related).map(([type, content]) => textOf(`x/${type}.xml`, content))
  return zipOf([
    textOf('_rels/.rels', relationships([['officeDocument', 'x/main.xml']])),
    textOf('x/_rels/main.xml.rels', relationships(Object.keys(related).map((type) => [type, `${type}.xml`]))),
    textOf('x/main.xml', main),
    ...parts,
  ])
}

/** A document of a word processor with this body. */
export const wordOf = (body: string, related: Readonly<Record<string, string>> = {}): Buffer =>
  officeOf(`<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`, related)

/** A workbook with one sheet of these rows. */
export const sheetOf = (rows: string, related: Readonly<Record<string, string>> = {}): Buffer =>
  officeOf('<workbook xmlns:r="r"><sheets><sheet name="One" sheetId="1" r:id="worksheet"/></sheets></workbook>', {
    worksheet: `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...related,
  })

function relationships(targets: readonly (readonly [type: string, target: string])[]): string {
  const all = targets.map(([type, target]) => `<Relationship Id="${type}" Type="http://x/${type}" Target="${target}"/>`)
  return `<Relationships>${all.join('')}</Relationships>`
}
