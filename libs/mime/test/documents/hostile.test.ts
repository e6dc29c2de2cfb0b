import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { deflateSync } from 'node:zlib'
import { createDocumentReader, type DocumentReader, ParserTimeoutError } from '../../src/index.ts'
import { sheetOf, textOf, wordOf, zipOf } from './zip.ts'

const FIXTURES = path.join(import.meta.dirname, 'fixtures')
const CUTS = 2
const FLIPS = 4
const MEGABYTE = 1024 * 1024
const REASONS = ['encrypted', 'damaged', 'too_large', 'no_text', 'not_a_document']
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`

/** For documents that meet another limit than that of time, however slow the machine is. */
const UNHURRIED = { threads: 1, timeoutMs: 100_000 }
/**
 * How a thread ends whose memory is full: of its own, or, where collecting a full heap takes the machine seconds, for
 * want of an answer.
 */
const ENDED = /^A parser thread (?:died of|was stopped on) what it read/

let reader: DocumentReader
beforeAll(() => {
  reader = createDocumentReader({ ...UNHURRIED, threads: 2 })
})
afterAll(() => reader.close())

const unreadable = (reason: string) => ({ outcome: 'unreadable', reason })

/** A PDF of these objects, the first of which is its catalog. */
function pdfOf(...objects: (string | { readonly head: string; readonly stream: Buffer })[]): Buffer {
  const parts = objects.map((object, index) => {
    const [head, stream] = typeof object === 'string' ? [object] : [object.head, object.stream]
    const end = '\nendobj\n'
    if (stream === undefined) return Buffer.from(`${index + 1} 0 obj\n${head}${end}`)
    const begin = `${index + 1} 0 obj\n<<${head} /Length ${stream.length}>>\nstream\n`
    return Buffer.concat([Buffer.from(begin), stream, Buffer.from(`\nendstream${end}`)])
  })
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), ...parts, Buffer.from('trailer\n<</Root 1 0 R>>\n%%EOF')])
}

const CATALOG = '<</Type /Catalog /Pages 2 0 R>>'
const PAGES = '<</Type /Pages /Count 1 /Kids [3 0 R]>>'
const pageOf = (resources: string) =>
  `<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources <<${resources}>>>>`

/** Forms that each draw the next one ten times, ten billion times in all. */
function loopingPdf(): Buffer {
  const forms = Array.from({ length: 10 }, (_, level) => ({
    head: `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources <</XObject <</F ${level + 6} 0 R>>>>`,
    stream: Buffer.from('/F Do '.repeat(10)),
  }))
  const draw = { head: '', stream: Buffer.from('/F Do') }
  const last = {
    head: '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources <</Font <</T 16 0 R>>>>',
    stream: Buffer.from('BT /T 1 Tf (x) Tj ET'),
  }
  return pdfOf(
    CATALOG,
    PAGES,
    pageOf('/XObject <</F 5 0 R>>'),
    draw,
    ...forms,
    last,
    '<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>',
  )
}

describe('a document that is too large once inflated', () => {
  let modest: DocumentReader
  beforeAll(() => {
    modest = createDocumentReader({ ...UNHURRIED, limits: { inflatedBytes: 10 * MEGABYTE } })
  })
  afterAll(() => modest.close())

  const withMain = (content: Buffer, declared = content.length) =>
    zipOf([
      textOf('_rels/.rels', '<Relationships><Relationship Type="x/officeDocument" Target="main.xml"/></Relationships>'),
      { name: 'main.xml', content, declared },
    ])

  it('is refused by what it declares, before anything is inflated', async () => {
    const bomb = withMain(Buffer.alloc(11 * MEGABYTE, `<document>${paragraph('x')}`))
    expect(bomb.length).toBeLessThan(MEGABYTE / 10)
    expect(await modest.read(bomb)).toEqual(unreadable('too_large'))
    expect(await modest.read(withMain(Buffer.from('<document/>'), 11 * MEGABYTE))).toEqual(unreadable('too_large'))
  })

  it('is damaged when it holds more than it declares', async () => {
    const lying = withMain(Buffer.from(`<document>${paragraph('x').repeat(9_999)}`), 99)
    expect(await modest.read(lying)).toEqual(unreadable('damaged'))
  })

  it('is refused when its parts are, together', async () => {
    const header = `${paragraph('x')}${' '.repeat(6 * MEGABYTE)}`
    expect(await modest.read(wordOf(paragraph('x'), { header }))).toMatchObject({ outcome: 'read' })
    expect(await modest.read(wordOf(paragraph('x'), { header, footer: header }))).toEqual(unreadable('too_large'))
  })

  it('is refused when it has too many members', async () => {
    const many = Array.from({ length: 10_001 }, (_, index) => textOf(`${index}`, ''))
    expect(await reader.read(zipOf(many))).toEqual(unreadable('too_large'))
  })

  it('ends its thread when a PDF inflates to more than the thread may hold', async () => {
    const stream = deflateSync(Buffer.alloc(260 * MEGABYTE, ' '), { level: 1 })
    const bomb = pdfOf(CATALOG, PAGES, pageOf(''), { head: '/Filter /FlateDecode', stream })
    await expect(reader.read(bomb)).rejects.toThrow(ENDED)
    expect(await reader.read(wordOf(paragraph('next')))).toMatchObject({ text: 'next' })
  })
})

describe('a document that takes too long', () => {
  it('ends its thread, and the next document is read', async () => {
    const hasty = createDocumentReader({ threads: 1, timeoutMs: 1_000 })
    const [loops, next] = [hasty.read(loopingPdf()), hasty.read(wordOf(paragraph('next')))]
    await expect(loops).rejects.toThrow(ParserTimeoutError)
    expect(await next).toMatchObject({ text: 'next' })
    await hasty.close()
  })

  it('ends its thread when it needs more memory than a thread may have', async () => {
    const small = createDocumentReader({ ...UNHURRIED, memoryMb: 32, limits: { characters: 100 * MEGABYTE } })
    // Long paragraphs: many short ones fill the heap so slowly that its collection keeps the thread from answering. So
    // many that the heap is full long before they are joined: a thread that asks for much at once ends the process.
    const text = Array.from({ length: 10_000 }, (_, index) => paragraph(`word ${index} `.repeat(1_000))).join('')
    await expect(small.read(wordOf(text))).rejects.toThrow(ENDED)
    expect(await small.read(wordOf(paragraph('next')))).toMatchObject({ text: 'next' })
    await small.close()
  })
})

describe('a document of unusual size or form', () => {
  it('is read up to the limit, of 100,000 rows', async () => {
    const rows = Array.from(
      { length: 100_000 },
      (_, row) => `<row><c><v>${row}</v></c><c t="str"><v>Zeile ${row}</v></c></row>`,
    )
    const reading = await reader.read(sheetOf(rows.join('')))
    expect(reading).toMatchObject({ outcome: 'read', truncated: true })
    if (reading.outcome !== 'read') throw new Error('it was not read')
    expect(reading.text.slice(0, 27)).toBe('One\n0\tZeile 0\n1\tZeile 1\n2\tZ')
    expect(reading.text.length).toBeGreaterThan(900_000)
    expect(reading.text.length).toBeLessThanOrEqual(1_000_000)
  })

  it.each([
    ['elements', wordOf('<w:p>'.repeat(50_000))],
    ['groups', Buffer.from(`{\\rtf1 ${'{'.repeat(500_000)}`)],
  ])('is damaged when its %s are nested too deeply', async (_, bytes) => {
    expect(await reader.read(bytes)).toEqual(unreadable('damaged'))
  })

  it('is encrypted when it needs a password', async () => {
    expect(await reader.read(readFileSync(path.join(FIXTURES, 'encrypted.pdf')))).toEqual(unreadable('encrypted'))
  })
})

describe('a document that arrived damaged', () => {
  const names = readdirSync(FIXTURES).filter((name) => !/^\.|README/.test(name))

  it.each(names)('has an answer, wherever it was cut off and whichever bits have changed: %s', async (name) => {
    const whole = readFileSync(path.join(FIXTURES, name))
    const damaged = [
      ...Array.from({ length: CUTS }, (_, index) =>
        whole.subarray(0, Math.floor((whole.length * (index + 1)) / (CUTS + 1))),
      ),
      ...Array.from({ length: FLIPS }, (_, index) => withFlippedBits(whole, index + 1)),
    ]
    const readings = await Promise.all(damaged.map((bytes) => reader.read(bytes)))
    for (const reading of readings) {
      if (reading.outcome === 'unreadable') expect(REASONS).toContain(reading.reason)
      else expect(reading.text).toMatch(/\S/)
    }
    expect(readings.length).toBe(CUTS + FLIPS)
  })
})

/** The same bytes with a few bits changed, at places that follow from `seed`. */
function withFlippedBits(bytes: Buffer, seed: number): Buffer {
  const flipped = Buffer.from(bytes)
  for (let flip = 1, at = seed; flip <= 8; flip++) {
    at = (at * 48_271 + flip) % 2_147_483_647
    flipped[at % flipped.length] = (flipped[at % flipped.length] ?? 0) ^ (1 << (at % 8))
  }
  return flipped
}
