import { byLength } from '@restante/service/testing'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import addressparser from 'nodemailer/lib/addressparser'
import { parse, readAuthor } from '../../src/index.ts'

const SEED = Number(process.env['FC_SEED'] ?? 20_261_122)
const RUNS = byLength({ short: 2_000, long: 6_000 })

const EVIL = 'attacker@evil.test'
const CEO = 'ceo@bank.test'
const base64 = (text: string, charset: BufferEncoding) => Buffer.from(text, charset).toString('base64')

const address = fc.constantFrom(
  EVIL,
  CEO,
  'CEO@Bank.Test',
  'a.b+c@x.test',
  'root@localhost',
  'zo\xc3\xab@b\xc3\xbccher.test',
  'a..b@x.test',
  'a@x.test.',
  'a@[192.0.2.1]',
  '"a b"@x.test',
  `"${CEO}"@evil.test`,
  'a@b@c.test',
  'ceo@',
  '@bank.test',
  '=?utf-8?q?ceo?=@bank.test',
  'ceo@=?utf-8?q?bank?=.test',
  'ceo @ bank.test',
  'ceo(x)@bank.test',
  'ceo@bank.test\xa0',
  'ceo\xef\xbc\xa0bank.test',
)
const encodedWord = fc.constantFrom(
  `=?utf-8?q?CEO_=3C${CEO.replace('@', '=40')}=3E?=`,
  `=?utf-8?b?${base64(`CEO <${CEO}>`, 'utf8')}?=`,
  `=?utf-16le?b?${base64(`<${CEO}>`, 'utf16le')}?=`,
  '=?utf-8?q?=22?=',
  '=?utf-8?q?=28?=',
  '=?utf-8?q?=2C?=',
  '=?utf-8?q?Zo=C3=AB?=',
  '=?utf-7?q?+AEA-?=',
  '=?x-unknown?q?=FF=40?=',
  '=?iso-2022-jp?b?GyRCRnxLXBsoQg==?=',
  '=?utf-8?q?unclosed',
  '=?utf-8?q?=0D=0AFrom:_ceo=40bank.test?=',
)
const word = fc.oneof(
  fc.constantFrom('CEO', 'Ada', "O'Neil", 'J.', 'J\xfcrgen', 'Zo\xc3\xab', '[x]', '\\', '\xe2\x80\xae', "'", 'via'),
  encodedWord,
  fc.oneof(address, encodedWord, fc.constantFrom('a', '\\"', '\\\\', ')', ',', ':')).map((text) => `"${text}"`),
  fc.oneof(address, encodedWord, fc.constantFrom('a', '\\)', '(b)', '"', '<', ',')).map((text) => `(${text})`),
)
const blank = fc.constantFrom(
  '',
  '',
  ' ',
  ' ',
  '  ',
  '\t',
  '\r\n ',
  '\r\n\t',
  ' \r\n \r\n ',
  '\xa0',
  '\x0b',
  '\0',
  '\r',
  '\n ',
)
const spaced = (parts: fc.Arbitrary<string>[]) =>
  fc.tuple(...parts.flatMap((part) => [blank, part]), blank).map((texts) => texts.join(''))
const phrase = fc.array(fc.tuple(word, blank), { maxLength: 4 }).map((words) => words.flat().join(''))
const angle = fc.oneof(
  { weight: 5, arbitrary: address.map((text) => `<${text}>`) },
  address.map((text) => `< ${text} >`),
  address.map((text) => `<@a.test,@b.test:${text}>`),
  address.map((text) => `<(${text})${EVIL}>`),
  address.map((text) => `<${text}`),
  address.map((text) => `<<${text}>>`),
  fc.constant('<>'),
)
const mailbox = fc.oneof(
  { weight: 3, arbitrary: spaced([phrase, angle]) },
  { weight: 2, arbitrary: spaced([address]) },
  spaced([address, word]),
  spaced([word, address]),
  spaced([phrase, angle, angle]),
  phrase,
)
const field = fc.oneof(
  { weight: 6, arbitrary: mailbox },
  fc
    .array(mailbox, { minLength: 2, maxLength: 3 })
    .chain((all) => fc.constantFrom(',', ';', ', ').map((by) => all.join(by))),
  mailbox.map((text) => `Team: ${text};`),
  fc.tuple(mailbox, mailbox).map(([a, b]) => `${a}: ${b};`),
  fc.tuple(mailbox, fc.integer({ min: 8_000, max: 9_000 })).map(([text, size]) => `${text} (${'a'.repeat(size)})`),
  fc.constant('undisclosed-recipients:;'),
)
const name = fc.constantFrom(
  'From',
  'From',
  'From',
  'from',
  'FROM ',
  'From\t',
  'From\x0b',
  'From\x0c',
  'From\xa0',
  ' From',
  'From\r\n ',
  'XFrom',
  'From\0',
)
const line = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(name, field).map(([key, value]) => `${key}:${value}`) },
  fc.constantFrom(
    'To: x@y.test',
    'Subject: x',
    'garbage',
    '',
    '\r',
    'From',
    `From ${CEO} Mon Jan 1 10:00:00 2026`,
    `: ${CEO}`,
    'X: y\r\n z',
  ),
)
const header = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(EVIL, `Ada <${EVIL}>`) }, field),
    fc.array(line, { maxLength: 2 }),
    fc.array(line, { maxLength: 2 }),
  )
  .map(([value, before, after]) => [...before, `From:${value}`, ...after].join('\r\n'))

/** The addresses that nodemailer's parser takes from a display string. */
const addressesIn = (display: string): string[] =>
  addressparser(display, { flatten: true }).flatMap((found) => (found.address.includes('@') ? [found.address] : []))

async function check(head: string): Promise<boolean> {
  const raw = Buffer.from(`${head}\r\n\r\nx`, 'latin1')
  const author = readAuthor(raw)
  const mail = parse(raw)
  expect({ author: mail.author, from: mail.from }).toEqual({ author: author.address, from: author.display })
  expect(author.display).toMatch(/^.{1,500}$/u)
  expect(addressesIn(author.display)).toEqual(author.address === undefined ? [] : [author.address])
  if (author.address === undefined) return false
  const judged = await dkimVerify(raw)
  expect({ fields: judged.fromFields, addresses: judged.headerFrom }).toEqual({
    fields: 1,
    addresses: [author.address],
  })
  return true
}

describe(`the author shown is the one that is authenticated, in ${RUNS} generated mails of seed ${SEED}:`, () => {
  it.each([
    ['From fields of every form', field.map((value) => `From:${value}`)],
    ['whole headers', header],
  ])('%s', async (_, generated) => {
    let authors = 0
    await fc.assert(
      fc.asyncProperty(generated, async (head) => {
        if (await check(head)) authors++
      }),
      { seed: SEED, numRuns: RUNS / 2 },
    )
    // The generator must produce both outcomes.
    expect(authors).toBeGreaterThan(RUNS / 100)
    expect(authors).toBeLessThan(RUNS / 3)
  })
})
