import { randomUUID } from 'node:crypto'
import { addressIn, bareAddress, normalizeAddress, ReturnPath, readAuthor, readMentioned } from '@restante/mime'
import { unparsedContent } from '../../src/content/mail-content.ts'
import { LoopDetectedError, withoutLoops } from '../../src/inbound/loops.ts'
import { mergedHeaders } from '../../src/pipeline/conclusion/merged-headers.ts'
import { traceLines } from '../../src/pipeline/conclusion/trace-lines.ts'
import { spamScore } from '../../src/pipeline/examination/spam-rules.ts'
import { judgedHeader, startOfBody } from '../../src/sender/judged-header.ts'
import { LineGuard } from '../../src/smtp/protocol/line-guard.ts'

const BYTES = 256 * 1024
const HOSTNAME = 'mx.mail.test'
const INBOXES = Array.from({ length: 500 }, (_, number) => `desk${number}@mail.test`)
/** For each of them, of which the longest takes 80 ms. Code that takes time quadratic to its input needs many seconds. */
const MOST_MS = 1_500

const filled = (unit: string, size = BYTES): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
const ours = (recipient: string) =>
  `Received: from a ([192.0.2.1])\r\n\tby ${HOSTNAME} with ESMTP id x\r\n\tfor <${recipient}>; now\r\n`

/** Units of what readers of headers have patterns for; repeated without the end that a pattern looks for. */
const UNITS = [
  ...[
    ' ',
    'a',
    '+',
    '=',
    '<',
    '(',
    '"',
    '\\',
    '@',
    '.',
    '\0',
    '\x80',
    '\r\n ',
    ' b',
    'a@',
    '<>',
    '()',
    '(\\',
    ' "',
    ':;',
  ],
  ...['=?', '=?a', '=?a?q?', '=?utf-8?b?/w==?= ', ' by a', ' for <', 'by a for <', ' from a ([a]) by a', ' id a', '>;'],
  ...[' d', ';s =', 's=a;d=', '<a> ', 'a..'],
]
const NAMES = ['Received', 'From', 'DKIM-Signature']

/** Headers of 256 KB: one long field, many short ones, and lines that are no field. */
function* headers(): Generator<[string, string]> {
  for (const name of NAMES) {
    for (const unit of UNITS) yield [`${name}: ${unit}`, `${name}: x by ${filled(unit)}`]
    for (const unit of [' ', '\t', '\r\n ', 'x']) yield [`${name}${unit}`, `${name}${filled(unit)}y`]
    for (const unit of [...UNITS.filter((each) => each.startsWith('=?')), ' d=', 'a@', '('])
      for (const length of [20, 2_000])
        yield [`${name}: ${unit}, of ${length}`, filled(`${name}: ${filled(unit, length)}\r\n`)]
  }
  for (const line of ['\r\n a', 'a\r\n', ':\r\n', 'From\r\nx\r\n', 'From \r\n :\r\n'])
    yield [JSON.stringify(line), filled(line)]
  yield ['a hop with recipients that never end', `Received: x by ${'a'.repeat(125_000)}${' for <'.repeat(20_800)} b`]
  for (const recipient of ['+'.repeat(4_000), '+@'.repeat(2_000), 'xn--a.'.repeat(600)])
    yield [`ours for ${recipient.slice(0, 8)}`, ours(recipient).repeat(48)]
}

async function pass(mail: Buffer): Promise<void> {
  async function* chunks() {
    for (let at = 0; at < mail.length; at += 1_024) yield mail.subarray(at, at + 1_024)
  }
  try {
    for await (const _ of withoutLoops(chunks(), { hostname: HOSTNAME, inboxes: INBOXES }));
  } catch (error) {
    if (!(error instanceof LoopDetectedError)) throw error
  }
}

const returnPath = new ReturnPath({ domain: 'bounces.mail.test', secret: 'secret' })
const content = unparsedContent(Buffer.from('\r\n'))
const trace = (text: string) =>
  traceLines(
    {
      id: randomUUID(),
      leaseId: randomUUID(),
      target: { kind: 'report', deliveryId: '' },
      recipient: text,
      blob: '',
      size: 1,
      envelope: { via: 'smtp', mail_from: text, peer: text, helo: text, protocol: text, tls: text, smtputf8: true },
      receivedAt: new Date(),
      attempts: 1,
      slow: false,
      overdue: false,
      lane: 'lane',
      orphaned: false,
      listed: false,
    },
    HOSTNAME,
    '',
  )

/** What reads headers on the thread that serves everyone. */
const OF_HEADERS: Readonly<Record<string, (raw: Buffer) => unknown>> = {
  withoutLoops: pass,
  judgedHeader,
  startOfBody,
  readAuthor: (raw) => readAuthor(raw),
  readMentioned: (raw) => readMentioned(raw),
  unparsedContent,
}

/** The same for one value or text. What is shown as `from` has at most 500 characters. */
const OF_TEXTS: Readonly<Record<string, (text: string) => unknown>> = {
  mergedHeaders: (text) => mergedHeaders({ Received: text }, { [text]: text, 'Authentication-Results': text }),
  spamScore: (text) => spamScore({ ...content, ...mail(text), from: text.slice(0, 500) }, false),
  'spamScore of html alone': (text) => spamScore({ ...content, html: `<img>${text.slice(0, 49_000)}` }, false),
  bareAddress,
  addressIn,
  normalizeAddress,
  deliveryOf: (text) => returnPath.deliveryOf(`${text}@bounces.mail.test`),
  traceLines: (text) => trace(text),
  LineGuard: (text) => new LineGuard().check(Buffer.from(text.replace(/[\r\n]/g, 'x'))),
}

const mail = (text: string) => ({ subject: text, text, html: text, attachments: [attachment(text)] })
const attachment = (filename: string) => ({
  attachment_id: randomUUID(),
  start: 0,
  end: 0,
  encoding: 'none' as const,
  size: 0,
  filename,
  content_type: filename,
})

async function worstOf(hostile: Iterable<[string, string]>, read: (text: string) => unknown) {
  let worst = { name: '', ms: 0 }
  for (const [name, text] of hostile) {
    const before = process.threadCpuUsage()
    await read(text)
    const { user, system } = process.threadCpuUsage(before)
    const ms = (user + system) / 1_000
    if (ms > worst.ms) worst = { name, ms }
  }
  return worst
}

describe('a header of 256 KB', () => {
  it.each(Object.entries(OF_HEADERS))('as a header cost %s little time of the main thread', async (_, read) => {
    const worst = await worstOf(headers(), (header) => read(Buffer.from(`${header}\r\n\r\nbody\r\n`, 'latin1')))
    expect(worst.ms < MOST_MS ? undefined : worst).toBeUndefined()
  })

  it.each(Object.entries(OF_TEXTS))('as a text cost %s little time of the main thread', async (_, read) => {
    const worst = await worstOf(
      UNITS.map((unit) => [unit, filled(unit)]),
      read,
    )
    expect(worst.ms < MOST_MS ? undefined : worst).toBeUndefined()
  })
})
