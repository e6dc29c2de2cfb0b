import {
  createParserPool,
  ParserDied,
  type ParserPool,
  ParserTimedOut,
  ParserUnavailable,
  parse,
  readMail,
} from '../src/index.ts'
import { fixture, mailOf } from './fixture.ts'

describe('the parser pool', () => {
  let pool: ParserPool
  afterEach(() => pool.close())

  it('reads in a thread what readMail reads, and leaves the bytes to the caller', async () => {
    pool = createParserPool({ threads: 2 })
    const names = ['plain', 'alternative', 'mixed-related', 'html-only', 'bounce', 'complaint', 'flowed']
    const mails = await Promise.all(names.map((name) => pool.read(fixture(name))))
    expect(mails).toEqual(names.map((name) => readMail(fixture(name))))
    const raw = fixture('plain')
    await pool.read(raw)
    expect(parse(raw).subject).toBe('Order 1182')
  })

  it('stops a mail that takes too long, and reads the next one', async () => {
    pool = createParserPool({ threads: 1, timeoutMs: 300 })
    const slow = mailOf('Content-Type: text/html', '', 'x<br>'.repeat(200_000))
    const [first, second] = [pool.read(slow), pool.read(fixture('plain'))]
    await expect(first).rejects.toThrow(ParserTimedOut)
    await expect(second).resolves.toMatchObject({ subject: 'Order 1182' })
  })

  it('survives a mail that needs more memory than a thread may have', async () => {
    pool = createParserPool({ threads: 1, memoryMb: 32, timeoutMs: 20_000 })
    const greedy = mailOf('Content-Type: text/html', '', 'x<br>'.repeat(200_000))
    const [first, second] = [pool.read(greedy), pool.read(fixture('plain'))]
    await expect(first).rejects.toThrow(ParserDied)
    await expect(second).resolves.toMatchObject({ subject: 'Order 1182' })
  })

  it('keeps one thread when there is nothing to do, and has as many as it may when there is', async () => {
    pool = createParserPool({ threads: 3, idleMs: 20 })
    expect(pool.threads).toBe(1)
    const mails = Array.from({ length: 5 }, () => pool.read(fixture('plain')))
    expect(pool.threads).toBe(3)
    await Promise.all(mails)
    while (pool.threads > 1) await new Promise(setImmediate)
    await expect(pool.read(fixture('plain'))).resolves.toMatchObject({ subject: 'Order 1182' })
  })

  it('rejects what is unfinished when it closes', async () => {
    pool = createParserPool({ threads: 1 })
    const unfinished = [pool.read(fixture('plain')), pool.read(fixture('plain'))]
    expect(pool.waiting).toBe(2)
    const settled = Promise.allSettled(unfinished)
    await pool.close()
    const closed = { status: 'rejected', reason: expect.any(ParserUnavailable) }
    expect(await settled).toEqual([closed, closed])
    await expect(pool.read(fixture('plain'))).rejects.toThrow(ParserUnavailable)
  })

  it('blames no mail when no thread can start', async () => {
    // Too little even for what a thread loads before its first mail.
    pool = createParserPool({ threads: 1, memoryMb: 6 })
    await expect(pool.read(fixture('plain'))).rejects.toThrow(ParserUnavailable)
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
