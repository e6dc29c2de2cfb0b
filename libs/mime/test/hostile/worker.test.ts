import {
  createParserPool,
  ParserOverdueError,
  type ParserPool,
  ParserTimeoutError,
  ParserUnavailableError,
  parse,
  type ReadMail,
  readMail,
} from '../../src/index.ts'
import { affordableLength } from '../../src/limits/affordable.ts'
import type { ParseLimits } from '../../src/limits/limits.ts'
import { fromSent, toSent } from '../../src/worker/sent-mail.ts'
import { SmallestFirstQueue } from '../../src/worker/smallest-first-queue.ts'
import { fixture, mailOf } from '../fixture.ts'
import { slowishMail, slowMail } from './slow.ts'

describe('the parser pool', () => {
  let pool: ParserPool
  afterEach(() => pool.close())

  it('reads the same in a thread as readMail, and leaves the bytes to the caller', async () => {
    pool = createParserPool({ threads: 2 })
    const names = ['plain', 'alternative', 'mixed-related', 'html-only', 'bounce', 'complaint', 'flowed']
    const mails = await Promise.all(names.map((name) => pool.read(fixture(name))))
    expect(mails).toEqual(names.map((name) => readMail(fixture(name))))
    const raw = fixture('plain')
    await pool.read(raw)
    expect(parse(raw).subject).toBe('Order 1182')
  })

  it('stops a mail that takes too long, and reads the next one', async () => {
    pool = createParserPool({ threads: 1, firstMs: 450, timeoutMs: 450 })
    const [first, second] = [pool.read(slowMail()), pool.read(fixture('plain'))]
    await expect(first).rejects.toThrow(ParserTimeoutError)
    await expect(second).resolves.toMatchObject({ subject: 'Order 1182' })
  })

  it('makes a short first attempt, and reads mail that exceeds it in the slow lane', async () => {
    pool = createParserPool({ threads: 1, firstMs: 200, timeoutMs: 60_000 })
    const slow = slowishMail()
    await expect(pool.readFirst(slow)).rejects.toThrow(ParserOverdueError)
    expect(pool.threads).toBe(1)
    await expect(pool.readSlowly(slow)).resolves.toMatchObject({ subject: 'slow' })
  })

  it('reads other mail while ten slow mails are being processed', async () => {
    pool = createParserPool({ threads: 2, firstMs: 450, timeoutMs: 60_000 })
    const ended: string[] = []
    const note = (name: string) => (mail: ReadMail) => void ended.push(`${name}: ${mail.subject}`)
    const slow = slowMail()
    const unfinished = Array.from({ length: 10 }, () => pool.read(slow).then(note('slow'), () => {}))
    await pool.read(fixture('plain')).then(note('other'))
    expect(ended).toEqual(['other: Order 1182'])
    await pool.close()
    await Promise.all(unfinished)
  })

  it('has a thread for mail with priority while the ordinary ones are busy, and no more than it needs', async () => {
    pool = createParserPool({ threads: 1, firstMs: 60_000, timeoutMs: 60_000 })
    await pool.read(fixture('plain'), { priority: true })
    expect(pool.threads).toBe(1)
    const busy = pool.read(slowMail()).then(
      () => 'read',
      () => 'closed',
    )
    await expect(pool.read(fixture('plain'), { priority: true })).resolves.toMatchObject({ subject: 'Order 1182' })
    expect(pool.threads).toBe(2)
    await pool.close()
    expect(await busy).toBe('closed')
  })

  it('keeps one thread when idle, and uses as many as allowed when busy', async () => {
    pool = createParserPool({ threads: 3, idleMs: 20 })
    expect(pool.threads).toBe(1)
    const mails = Array.from({ length: 5 }, () => pool.read(fixture('plain')))
    expect(pool.threads).toBe(3)
    await Promise.all(mails)
    while (pool.threads > 1) await new Promise(setImmediate)
    await expect(pool.read(fixture('plain'))).resolves.toMatchObject({ subject: 'Order 1182' })
  })

  it('rejects unfinished mails when it closes', async () => {
    pool = createParserPool({ threads: 1 })
    const unfinished = [pool.read(fixture('plain')), pool.read(fixture('plain'))]
    expect(pool.waiting).toBe(2)
    const settled = Promise.allSettled(unfinished)
    await pool.close()
    const closed = { status: 'rejected', reason: expect.any(ParserUnavailableError) }
    expect(await settled).toEqual([closed, closed])
    await expect(pool.read(fixture('plain'))).rejects.toThrow(ParserUnavailableError)
  })
})

describe('a mail sent between threads', () => {
  it.each([
    ['text', 'text/plain'],
    ['html', 'text/html'],
  ])('carries its %s once, and arrives as it was read', (body, type) => {
    const mail = readMail(mailOf(`Content-Type: ${type}`, '', ` ${'word '.repeat(20_000)}`))
    const sent = structuredClone(toSent(mail))
    expect(JSON.stringify(sent).length).toBeLessThan(1.5 * (mail[body === 'text' ? 'text' : 'html'] ?? '').length)
    expect(fromSent(sent)).toEqual(mail)
  })
})

describe('SmallestFirstQueue', () => {
  const waiting = (since: number, ...lengths: number[]) => lengths.map((length) => ({ raw: { length }, since }))

  it('lets the smallest mail pass, and of equal ones the first', () => {
    const queue = new SmallestFirstQueue<{ raw: { length: number }; since: number; name?: string }>(60_000)
    const since = performance.now()
    for (const item of [...waiting(since, 30, 10), { raw: { length: 10 }, since, name: 'later' }]) queue.add(item)
    expect(
      [queue.next(), queue.next(), queue.next(), queue.next()].map((item) => item?.name ?? item?.raw.length),
    ).toEqual([10, 'later', 30, undefined])
  })

  it('gives every other slot to the oldest once it has waited too long', () => {
    const queue = new SmallestFirstQueue<{ raw: { length: number }; since: number }>(0)
    for (const item of waiting(-1, 90, 80, 1, 2, 3)) queue.add(item)
    expect(Array.from({ length: 5 }, () => queue.next()?.raw.length)).toEqual([90, 1, 80, 2, 3])
  })
})

describe('the reply of a text', () => {
  it.each(['\n', '\r\n'])('is extracted up to a length and a number of lines, which end in %j', (end) => {
    const raw = mailOf(
      'Content-Type: text/plain',
      '',
      ['Fine.', '', 'On Mon, 5 Jan 2026 at 10:00, Ada <ada@b.test> wrote:', '> When?'].join(end),
    )
    const { text = '' } = readMail(raw)
    const lines = text.split('\n').length
    const extracted = (limits: Partial<ParseLimits>) => readMail(raw, limits).extractedText
    expect(extracted({ extractedText: text.length, textLines: lines })).toBe('Fine.')
    expect(extracted({ extractedText: text.length - 1 })).toBe(text.trim())
    expect(extracted({ textLines: lines - 1 })).toBe(text.trim())
  })
})

describe('the affordable length of html', () => {
  it.each([
    ['short', '<p>x</p>', 8],
    ['long', 'x'.repeat(50), 20],
    ['rich in tags', '<b>'.repeat(50), 9],
  ])('is bounded for html that is %s', (_, html, length) => {
    expect(affordableLength(html, { extractedHtml: 20, htmlTags: 3 })).toBe(length)
  })

  it('bounds what is extracted and searched', () => {
    const raw = mailOf('Content-Type: text/html', '', `one${'<br>'.repeat(5)}two`)
    expect(readMail(raw, { htmlTags: 3 })).toMatchObject({
      searchText: 'one',
      extractedHtml: `one${'<br>'.repeat(5)}two`,
    })
  })
})

describe('readMail', () => {
  it('derives what the mailbox stores', () => {
    const mail = readMail(
      mailOf(
        'Content-Type: text/plain; charset=utf-8',
        '',
        'Fine by me.',
        '',
        'On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:',
        '> Lunch?',
      ),
    )
    expect(mail).toMatchObject({
      extractedText: 'Fine by me.',
      searchText: 'Fine by me.',
      preview: expect.stringContaining('> Lunch?'),
    })
    expect(mail).not.toHaveProperty('extractedHtml')
    expect(mail).not.toHaveProperty('report')
  })

  it('searches the text of html-only mail, and has no preview for it', () => {
    const mail = readMail(fixture('html-only'))
    expect(mail).toMatchObject({ searchText: 'Sale €1', extractedHtml: mail.html })
    expect(mail).not.toHaveProperty('preview')
  })

  it('searches the history of a mail that adds nothing to it', () => {
    expect(readMail(mailOf('', '> Lunch?', 'On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:')).searchText).toContain(
      'Lunch',
    )
  })

  it('recognises reports', () => {
    expect(readMail(fixture('bounce')).report?.kind).toBe('delivery')
    expect(readMail(fixture('complaint')).report?.kind).toBe('feedback')
  })
})
