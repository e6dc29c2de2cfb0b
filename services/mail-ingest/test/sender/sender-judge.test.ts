import { setTimeout as sample } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts/vocabulary'
import { readAuthor } from '@restante/mime'
import { createLogger } from '@restante/service/telemetry'
import { byLength, DnsZone, waitFor } from '@restante/testkit'
import addressparser from 'nodemailer/lib/addressparser'
import { authenticateSender } from '../../src/sender/authenticate-sender.ts'
import { DnsCache } from '../../src/sender/dns/dns-cache.ts'
import { SenderJudge } from '../../src/sender/sender-judge.ts'

const txt = (data: string) => ({ type: 'TXT' as const, data })
const log = createLogger({ service: 'test', level: 'silent' })
/** Headers that are put together at random. */
const HEADERS = byLength({ short: 300, long: 4_500 })
/** Of the processor time that one mail may take; an expensive mail takes all of it. */
const SHARE = byLength({ short: 0.25, long: 1 })
/** The most that is used together, with what reads and copies the mail: a second. Without a limit it would be 7 and more. */
const MOST_MS = byLength({ short: 5_000, long: 20_000 })
/** The longest processor time for which an expensive mail may keep the thread of the others. It takes some milliseconds. */
const LONGEST_TURN_MS = 250
const SMTP = { via: 'smtp', peer: '192.0.2.1', helo: 'mx.evil.test', protocol: 'ESMTPS', smtputf8: false } as const

let zone: DnsZone
let judge: SenderJudge
/** As the other one, with a share of the time for each mail. */
let thrifty: SenderJudge

beforeAll(async () => {
  zone = await new DnsZone().start()
  for (const domain of ['evil.test', 'good.test']) zone.set(domain, txt('v=spf1 ip4:192.0.2.1 -all'))
  zone.set('_dmarc.evil.test', txt('v=DMARC1; p=reject')).set('_dmarc.bank.test', txt('v=DMARC1; p=reject'))
  const dns = new DnsCache([zone.address])
  judge = new SenderJudge({ dns })
  thrifty = new SenderJudge({ dns, cpuMs: LIMITS.inbound.senderAuthenticationCpu * SHARE })
})
afterAll(async () => {
  await judge.stop()
  await thrifty.stop()
  await zone.stop()
})

function authenticate(raw: Buffer | string, from = 'attacker@evil.test', by = judge, trustLoopback = false) {
  const options = { hostname: 'mx.test', judge: by, trustLoopback, arcTrustedSealers: new Set<string>(), log }
  const envelope = { ...SMTP, mail_from: from, ...(trustLoopback && { peer: '127.0.0.1' }) }
  return authenticateSender(Buffer.from(raw), envelope, options)
}

/**
 * The longest processor time, in milliseconds, for which this thread kept a timer waiting while `work` was in progress.
 */
async function longestTurn<T>(work: Promise<T>): Promise<{ result: T; longest: number }> {
  let longest = 0
  let over = false
  const watched = (async () => {
    while (!over) {
      const begun = process.threadCpuUsage()
      await sample(2)
      const { user, system } = process.threadCpuUsage(begun)
      longest = Math.max(longest, (user + system) / 1_000)
    }
  })()
  const result = await work.finally(() => {
    over = true
  })
  await watched
  return { result, longest }
}

const MB = 1024 * 1024
/** As large as a mail may be, or large enough that a thread has to read it piece by piece. */
const LARGE = byLength({ short: 8 * MB, long: 38 * MB })
const QUITE_LARGE = byLength({ short: 4 * MB, long: 10 * MB })
const GOOD = 'From: Ann <ann@good.test>\r\nSubject: Hi\r\n\r\nHello\r\n'
/** @param lengths as many signatures, each over so many bytes of the body. */
function signed(body: string, lengths: readonly (number | undefined)[]): Buffer {
  const signatures = lengths.map(
    (length, index) =>
      `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=evil.test; s=s${index};${length ? ` l=${length};` : ''}\r\n h=from; bh=AAAA; b=AAAA\r\n`,
  )
  return Buffer.from(`From: Eve <eve@evil.test>\r\n${signatures.join('')}\r\n${body}`, 'latin1')
}
const TEN = Array.from({ length: 10 }, (_, index) => 1_000_000 + index)

describe('a mail that is expensive to authenticate', () => {
  it.each<[string, () => Buffer]>([
    ['ten lengths of blanks', () => signed('a \t \t\r\n'.repeat(LARGE / 7), TEN)],
    ['one signature over blanks', () => signed('a \t \t\r\n'.repeat(QUITE_LARGE / 7), [undefined])],
    ['ten lengths of one line', () => signed('a '.repeat(5 * MB), TEN)],
    ['one line of tabs', () => signed('\t'.repeat(10 * MB), [undefined])],
    ['nothing but line feeds', () => signed('\n'.repeat(QUITE_LARGE), TEN)],
    ['a long From', () => Buffer.from(`From: ${'(<"a@b",'.repeat(25_000)}\r\n\r\nx\r\n`)],
    ['ten thousand fields', () => Buffer.from(`From: a@evil.test\r\n${'X: y\r\n'.repeat(10_000)}\r\nx\r\n`)],
  ])('is authenticated within a budget, and holds up no other: %s', async (_what, make) => {
    const raw = make()
    let longest = Number.POSITIVE_INFINITY
    // A collection of garbage, or the compiler, may fall into any try.
    for (let attempt = 0; attempt < 4 && longest >= LONGEST_TURN_MS; attempt++) {
      longest = Math.min(longest, await besideHonestMail(raw))
    }
    expect(longest).toBeLessThan(LONGEST_TURN_MS)
  })

  /**
   * Judges a hostile mail while honest mail arrives. @returns the longest turn of this thread during that time, in
   * milliseconds.
   */
  async function besideHonestMail(raw: Buffer): Promise<number> {
    await authenticate(GOOD, 'ann@good.test', thrifty)
    const order: string[] = []
    const before = process.cpuUsage()
    const hostile = authenticate(raw, 'attacker@nothing.test', thrifty).then((verdict) => {
      order.push('hostile')
      return verdict
    })
    const good = Array.from({ length: 3 }, () =>
      authenticate(GOOD, 'ann@good.test', thrifty).then((verdict) => {
        order.push('good')
        return verdict
      }),
    )
    const { result, longest } = await longestTurn(hostile)
    const { user, system } = process.cpuUsage(before)
    expect(result.authentication.verdict).not.toBe('pass')
    expect(result.unanswered).toEqual([])
    for (const verdict of await Promise.all(good)) expect(verdict.authentication.verdict).toBe('pass')
    if (raw.length > MB) expect(order.at(-1)).toBe('hostile')
    expect((user + system) / 1_000).toBeLessThan(MOST_MS)
    return longest
  }

  it('costs no other mail its verdict when it blocks the thread', async () => {
    const impatient = new SenderJudge({ dns: new DnsCache([zone.address]), cpuMs: 1 })
    expect((await authenticate(signed('a\r\n'.repeat(MB), TEN), '', impatient)).authentication.verdict).toBe('none')
    await impatient.stop()
    await expect(authenticate(GOOD, '', impatient)).rejects.toThrow('senders cannot be authenticated now')
  })

  it('does not affect an honest mail of forty megabytes', async () => {
    const verdict = await authenticate(signed(`${'A'.repeat(76)}\r\n`.repeat((39 * MB) / 78), [undefined, undefined]))
    expect(verdict.authentication).toMatchObject({ verdict: 'pass', spf: 'pass', dmarc: 'pass' })
  })
})

describe('the authentication thread', () => {
  it('starts with the first mail that needs it, and ends when none comes', async () => {
    const lazy = new SenderJudge({ dns: new DnsCache([zone.address]), idleMs: 50 })
    const trusted = await authenticate(GOOD, 'ann@good.test', lazy, true)
    expect([trusted.authentication.verdict, lazy.running]).toEqual(['internal', false])
    expect((await authenticate(GOOD, 'ann@good.test', lazy)).authentication.verdict).toBe('pass')
    expect(lazy.running).toBe(true)
    await waitFor(() => !lazy.running, { what: 'the end of the thread', interval: 5 })
    expect((await authenticate(GOOD, 'ann@good.test', lazy)).authentication.verdict).toBe('pass')
    await lazy.stop()
  })
})

/** The one address that a common parser finds in what is shown, in lower case. */
const addressesIn = (shown: string) =>
  addressparser(shown, { flatten: true }).flatMap(({ address }) =>
    address.includes('@') ? [address.toLowerCase()] : [],
  )

async function expectOneAuthor(header: string): Promise<string> {
  const raw = Buffer.from(`${header}\r\nSubject: x\r\n\r\nx\r\n`)
  const { authentication, author } = await authenticate(raw)
  const { address, display } = readAuthor(raw)
  const why = JSON.stringify([header, display, authentication])
  expect([why, address]).toEqual([why, author])
  expect([why, addressesIn(display)]).toEqual([why, address === undefined ? [] : [address.toLowerCase()]])
  if (authentication.verdict === 'pass')
    expect([why, address]).toEqual([why, expect.stringMatching(/[@.]evil\.test$/i)])
  if (address === undefined) expect([why, authentication.verdict]).toEqual([why, 'none'])
  return authentication.verdict
}

describe('an authenticated sender is the one that is shown', () => {
  it.each([
    'From: =?utf-8?q?CEO_=3Cceo=40bank.test=3E?=, attacker@evil.test',
    'From: =?utf-8?q?CEO_=3Cceo=40bank.test=3E?=; attacker@evil.test',
    `From: =?utf-8?b?${Buffer.from('CEO <ceo@bank.test>').toString('base64')}?=, attacker@evil.test`,
    'From: <ceo@bank.test>: attacker@evil.test;',
    'From: (CEO <ceo@bank.test>)attacker@evil.test',
    'From: "<ceo@bank.test>" attacker@evil.test',
    'From: =?utf-8?q?=22?= <attacker@evil.test> <ceo@bank.test>',
    `From: CEO <ceo@bank.test> (${'a'.repeat(8_400)})\r\nFrom: attacker@evil.test`,
    'From\x0b: ceo@bank.test\r\nFrom: attacker@evil.test',
    'From\x0c: ceo@bank.test\r\nFrom: attacker@evil.test',
    'From\u00a0: ceo@bank.test\r\nFrom: attacker@evil.test',
    'From: <@evil.test,@a.test:ceo@bank.test>',
    'From: ceo@bank.test\r\nFrom: attacker@evil.test',
    'From: attacker@evil.test\r\nfrom : ceo@bank.test',
    `From: "${'a'.repeat(490)}" <ceo@bank.test.evil.test>`,
  ])('whatever the header (%#)', expectOneAuthor)

  it('which plain mail shows', async () => {
    expect(await expectOneAuthor('From: Eve <attacker@evil.test>')).toBe('pass')
    expect(await expectOneAuthor('From: ceo@bank.test')).toBe('fail')
  })

  const PIECES = [
    'attacker@evil.test',
    '<attacker@evil.test>',
    'ceo@bank.test',
    '<ceo@bank.test>',
    'CEO',
    '"CEO"',
    '"ceo@bank.test"',
    '"<ceo@bank.test>"',
    '(ceo@bank.test)',
    '(<ceo@bank.test>)',
    '(',
    ')',
    '"',
    '\\',
    '<',
    '>',
    ',',
    ';',
    ':',
    '@',
    ' ',
    '\r\n ',
    '\r\nFrom: ',
    '\r\nfrom\t: ',
    '=?utf-8?q?ceo=40bank.test?=',
    '=?utf-8?b?PGNlb0BiYW5rLnRlc3Q+?=',
    '=?utf-8?q?=22?=',
    '\u00a0',
    'Zoë',
  ]
  it('over headers put together at random', async () => {
    let seed = 20_261_122
    const next = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return seed % below
    }
    const headers = Array.from({ length: HEADERS }, () => {
      const pieces = Array.from({ length: 1 + next(6) }, () => PIECES[next(PIECES.length)])
      return `From: ${pieces.join(next(2) === 0 ? '' : ' ')}`
    })
    const verdicts: string[] = []
    for (let from = 0; from < headers.length; from += 50) {
      verdicts.push(...(await Promise.all(headers.slice(from, from + 50).map(expectOneAuthor))))
    }
    expect(verdicts.filter((verdict) => verdict === 'pass').length).toBeGreaterThan(HEADERS / 150)
  })
})
