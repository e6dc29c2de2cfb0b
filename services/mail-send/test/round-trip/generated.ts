import fc from 'fast-check'

/** What somebody asks to be sent. */
export interface Wish {
  readonly subject: string
  readonly fromName: string
  readonly toName: string
  readonly note: string
  readonly text: string
  readonly html: string
  readonly files: readonly { readonly filename: string; readonly content: Uint8Array }[]
}

const WORDS = [
  'plain words',
  'Grüße aus Köln',
  'naïve façade',
  'Привет, мир',
  'Καλημέρα',
  'مرحبا بالعالم',
  'שלום עולם',
  'สวัสดีชาวโลก',
  'नमस्ते दुनिया',
  '你好，世界',
  'こんにちは',
  'カタカナ',
  '안녕하세요',
  '👩‍👩‍👧‍👦 👨🏽‍🚀',
  'e\u0301a\u0308o\u0302',
  '=?utf-8?q?not_encoded?=',
  '=41=0A',
  '"quoted" \\ back',
  'a@b.example, <c@d.example>;',
  '(comment)',
  '..',
  'x'.repeat(120),
  'ü'.repeat(90),
  'z'.repeat(1_100),
]
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)

/** One line as the API lets it through: trimmed, and without control characters. */
const line = (maxLength: number) =>
  fc
    .array(piece, { maxLength: 6 })
    .chain((pieces) => fc.constantFrom(' ', '', '  ').map((by) => pieces.join(by)))
    .map((text) =>
      text
        .replace(/[\p{Cc}\u2028\u2029]/gu, '')
        .slice(0, maxLength)
        .toWellFormed()
        .trim(),
    )

/** Without what looks like an encoded word. */
const unencoded = (maxLength: number) => line(maxLength).map((text) => text.replaceAll('=?', ''))

const bodyLine = fc.oneof(
  { weight: 5, arbitrary: fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(' ')) },
  fc.constantFrom(
    '',
    '.',
    '..',
    '.a',
    'From me',
    '>From me',
    '--',
    '-- ',
    'ends in spaces   ',
    '\tTab\t',
    '=',
    '=20',
    '--b_1',
  ),
  fc.constantFrom(998, 999, 5_000).map((length) => 'y'.repeat(length)),
  fc.constantFrom(500, 1_000).map((length) => '語 '.repeat(length)),
)
const body = fc
  .array(bodyLine, { minLength: 1, maxLength: 8 })
  .chain((lines) => fc.constantFrom('\n', '\r\n', '\r').map((end) => lines.join(end)))
  .map((text) => text.replaceAll('\0', '').toWellFormed())

const file = fc.record({
  filename: line(60).map((name) => `${name.replace(/[/\\]/g, '')}.bin`),
  content: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom('.\r\n..\r\n', '\n.\n', '\r\r\n', 'From x\n').map((text) => new TextEncoder().encode(text)),
  ),
})

/** Mails in many scripts, and with what transports and parsers stumble over. */
export const wishes: fc.Arbitrary<Wish> = fc.record({
  subject: line(4_000),
  // What looks encoded is quoted in a name, and read there as it is or decoded, by the parser.
  fromName: unencoded(100),
  toName: unencoded(100),
  // A caller may have encoded a header of its own.
  note: unencoded(2_000),
  text: body,
  html: body.map((text) => `<p>${text}</p>`),
  files: fc.array(file, { maxLength: 2 }),
})
