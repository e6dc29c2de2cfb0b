import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createDocumentReader, type DocumentReader } from '../../src/index.ts'
import { officeOf, sheetOf, textOf, wordOf, zipOf } from './zip.ts'

const fixture = (name: string) => readFileSync(path.join(import.meta.dirname, 'fixtures', name))

const OFFER = `Offer 4711
The crane lifts 12 t.	Delivery: 3 weeks.
First line
second line
Кран поднимает двенадцать тонн.
起重机可以提起十二吨。
الرافعة ترفع اثني عشر طنا.
Item	Pieces	Price`
const STOCK = `Stock
Article	Count	Price	Since	Share	At	Sold
Hook	1200	19.90 EUR	2026-11-23	25.6%	2026-11-23 14:05:00	TRUE
Верёвка						FALSE
滑轮	4006381333931`
const NOTES = `ملاحظات
	الحبل قديم`
const LAUNCH = `Launch in May
Three ports
Два крана
一艘船
Mention the price.

Costs
Port	Cost
Oslo	12 000`
const INVOICE = `Invoice 2026-118
Total: 1,234.50 EUR
Счёт за ноябрь
Größe: naïve façade

請求書は来週届きます
发票将于下周寄出`

let reader: DocumentReader
beforeAll(() => {
  reader = createDocumentReader({ threads: 2 })
})
afterAll(() => reader.close())

const textOfDocument = async (bytes: Buffer) => {
  const reading = await reader.read(bytes)
  return reading.outcome === 'read' ? reading.text : reading.reason
}

describe('the text of a document', () => {
  it.each([
    ['offer.docx', `Harbour Pilots Ltd.\n\n${OFFER}\nHook of steel\t2\t19.90\nWith kind regards\n\nPage of the offer`],
    ['offer.rtf', `Harbour Pilots Ltd.\nPage of the offer\n${OFFER}\nHook\nof steel\t2\t19.90\nWith kind regards`],
    ['stock.xlsx', `${STOCK}\n\n${NOTES}`],
    // LibreOffice calculates what openpyxl only wrote down.
    ['stock.ods', `${STOCK}\n\t\t39.8\n\n${NOTES}`],
    ['launch.pptx', LAUNCH],
    ['launch.odp', LAUNCH],
    [
      'minutes.odt',
      `Minutes
We met   at noon.	Next: May
in Oslo [or Bergen]
Следующая встреча в мае.
次の会議は五月です。
الاجتماع القادم في مايو.
Name	Task
Ada	Minutes`,
    ],
    ['invoice.pdf', INVOICE],
    ['owner-password.pdf', INVOICE],
    [
      'notice.pdf',
      `Notice of arrival
The ship enters the port on Monday. Pier 7
Корабль войдёт в порт в понедельник.
تدخل السفينة المرفأ يوم السبت.
Cargo Tons
Timber 410`,
    ],
  ])('is read from %s as a person reads it', async (name, text) => {
    expect(await textOfDocument(fixture(name))).toBe(text)
  })

  it('ends after as many characters as are allowed', async () => {
    const short = createDocumentReader({ threads: 1, limits: { characters: 9 } })
    expect(await short.read(wordOf('<w:p><w:r><w:t>Grüße 😀😀</w:t></w:r></w:p>'))).toEqual({
      outcome: 'read',
      text: 'Grüße 😀\ufffd',
      truncated: true,
    })
    await short.close()
  })
})

describe('the text of a word processor', () => {
  it('leaves out what is not shown: deleted and moved text, fields, pronunciations, older forms of drawings', async () => {
    const body = `<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>
      <w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>
      <w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r>
      <w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby>
      <mc:AlternateContent><mc:Choice><w:r><w:t> box</w:t></w:r></mc:Choice>
        <mc:Fallback><w:r><w:t> box</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>`
    expect(await textOfDocument(wordOf(body))).toBe('kept漢字 box')
  })

  it('holds headers first, then the text, then notes and comments, whatever the prefixes and the encoding are', async () => {
    const paragraph = (text: string) => `<p><r><t>${text}</t></r></p>`
    const related = {
      comments: paragraph('comment'),
      footnotes: paragraph('note'),
      header: paragraph('header'),
    }
    expect(await textOfDocument(officeOf(`<document>${paragraph('Straße &amp; &#x1F600;')}</document>`, related))).toBe(
      'header\n\nStraße & 😀\n\nnote\n\ncomment',
    )
    const wide = Buffer.from(
      `\ufeff<?xml version="1.0" encoding="UTF-16"?><document>${paragraph('Ω')}</document>`,
      'utf16le',
    )
    const rels = textOf(
      '_rels/.rels',
      '<Relationships><Relationship Type="x/officeDocument" Target="/m.xml"/></Relationships>',
    )
    expect(await textOfDocument(zipOf([rels, { name: 'm.xml', content: wide }]))).toBe('Ω')
  })

  it('expands no entity, reads no file and follows no reference out of the package', async () => {
    const main = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>
      <document><p><r><t>safe &b;&f;</t></r></p></document>`
    const rels = `<Relationships>
      <Relationship Type="x/officeDocument" Target="x/main.xml"/></Relationships>`
    const outside = `<Relationships>
      <Relationship Type="x/header" TargetMode="External" Target="http://127.0.0.1:9/header.xml"/>
      <Relationship Type="x/footer" Target="../../../../../etc/hostname"/></Relationships>`
    const bytes = zipOf([
      textOf('_rels/.rels', rels),
      textOf('x/_rels/main.xml.rels', outside),
      textOf('x/main.xml', main),
    ])
    expect(await textOfDocument(bytes)).toBe('safe &b;&f;')
  })
})

describe('the text of a spreadsheet', () => {
  it('shows cells where they are: formulas, errors, texts of their own, and gaps between them', async () => {
    const rows = `<row><c r="A1" t="str"><f>A2&amp;"x"</f><v>sum</v></c><c r="D1" t="e"><v>#REF!</v></c></row>
      <row/><row><c t="inlineStr"><is><r><t>in </t></r><r><t>line</t></r></is></c><c><v>0.30000000000000004</v></c></row>
      <row><c t="s"><v>1</v></c><c t="s"><v>99</v></c><c t="b"><v>0</v></c><c r="XFD4"><v>1e3</v></c></row>`
    const sharedStrings = '<sst><si><t>a</t></si><si><t>東京</t><rPh><t>トウキョウ</t></rPh></si></sst>'
    expect(await textOfDocument(sheetOf(rows, { sharedStrings }))).toBe(
      `One\nsum\t\t\t#REF!\nin line\t0.3\n東京\t\tFALSE${'\t'.repeat(101)}1000`,
    )
  })

  it('shows dates from 1904 on where the workbook counts from there, and durations as they are', async () => {
    const styles = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/></numFmts>
      <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`
    const worksheet = `<worksheet><sheetData><row><c s="1"><v>43000</v></c><c s="2"><v>1.5</v></c></row></sheetData></worksheet>`
    const workbook = `<workbook xmlns:r="r"><workbookPr date1904="1"/>
      <sheets><sheet name="Dates" r:id="worksheet"/></sheets></workbook>`
    expect(await textOfDocument(officeOf(workbook, { worksheet, styles }))).toBe('Dates\n2021-09-23\t36:00')
  })
})

describe('the text of OpenDocument', () => {
  const openDocument = (body: string, manifest = '') =>
    zipOf([
      textOf('mimetype', 'application/vnd.oasis.opendocument.text'),
      textOf('META-INF/manifest.xml', `<manifest:manifest>${manifest}</manifest:manifest>`),
      textOf('content.xml', `<office:document-content><office:body>${body}</office:body></office:document-content>`),
    ])

  it('repeats the cells and rows that the file holds once, and not the empty ones up to the edge', async () => {
    const cell = (text: string, repeated = 1) =>
      `<table:table-cell table:number-columns-repeated="${repeated}">${text && `<text:p>${text}</text:p>`}</table:table-cell>`
    const rows = `<table:table-row table:number-rows-repeated="2">${cell('a', 2)}${cell('', 3)}${cell('b')}${cell('', 16_000)}</table:table-row>
      <table:table-row table:number-rows-repeated="1048000">${cell('', 16_384)}</table:table-row>`
    const body = `<office:spreadsheet><table:table table:name="T">${rows}</table:table></office:spreadsheet>`
    expect(await textOfDocument(openDocument(body))).toBe('T\na\ta\t\t\t\tb\na\ta\t\t\t\tb')
  })

  it('leaves out deleted text, and needs no password to say that there is one', async () => {
    const tracked = '<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:p>kept</text:p>'
    expect(await textOfDocument(openDocument(`<office:text>${tracked}</office:text>`))).toBe('kept')
    const manifest = '<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>'
    expect(await textOfDocument(openDocument('', manifest))).toBe('encrypted')
  })
})

describe('the text of RTF', () => {
  const rtf = (text: string) => textOfDocument(Buffer.from(text, 'latin1'))

  it('is decoded by the character set of its font, over several bytes and by Unicode', async () => {
    const fonts = '{\\fonttbl{\\f0\\fcharset204 Arial;}{\\f1\\fcharset128 MS Mincho;}{\\f2\\fcharset0 Arial;}}'
    const text = `{\\rtf1\\ansi\\ansicpg1252\\deff2${fonts}\\f0 \\'cf\\'f0\\'e8\\'e2\\'e5\\'f2\\par\\f1\\'93\\'fa\\'96\\'7b\\par
\\plain gr\\'fc\\'df\\par\\uc2\\u8364\\'80\\'805\\u-10179 ??\\u-8704 ?\\'3f\\uc0\\u1071}`
    expect(await rtf(text)).toBe('Привет\n日本\ngrüß\n€5😀Я')
  })

  it('leaves out pictures, binary data, styles, fields and hidden text, and keeps notes and boxes', async () => {
    const text = `{\\rtf1{\\stylesheet{\\s1 Heading;}}{\\info{\\author Ada}}{\\*\\generator Word;}One{\\pict\\bin5 a}b{\\}
{\\field{\\*\\fldinst HYPERLINK "http://x"}{\\fldrslt  link}}{\\v hidden}{\\deleted gone}
{\\*\\shpinst{\\sp{\\sn x}{\\sv y}}{\\shptxt  box}}{\\footnote  note}\\emdash\\~\\{end\\}\\
next\\cell c\\row}`
    expect(await rtf(text)).toBe('One link box note— {end}\nnext\tc')
  })
})

describe('what is no document', () => {
  it.each([
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
    ['an archive of other files', zipOf([textOf('a.txt', 'a')])],
    ['an archive that only looks like one', zipOf([textOf('_rels/.rels', '<Relationships/>')])],
    ['a text', Buffer.from('plain')],
    ['nothing', Buffer.alloc(0)],
  ])('is recognised by its bytes: %s', async (_, bytes) => {
    expect(await textOfDocument(bytes)).toBe('not_a_document')
  })

  it('has no text when a document is empty', async () => {
    expect(await textOfDocument(wordOf('<w:p/>'))).toBe('no_text')
  })
})
