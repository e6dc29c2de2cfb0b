import { isInfrastructureError } from '@restante/service/errors'
import { createLogger } from '@restante/service/telemetry'
import { type ClamdConduct as Conduct, FakeClamd, waitFor } from '@restante/testkit'
import { clamdAddress, ScanFailedError, VirusScanner } from '@restante/virus-scan'
import { register } from 'prom-client'

const log = createLogger({ service: 'test', level: 'silent' })
const MAIL = Buffer.from('From: ada@customer.test\r\n\r\nHello\r\n')
const OK = { answer: 'stream: OK' }

const clamd = new FakeClamd()
beforeAll(() => clamd.start())
afterAll(() => clamd.stop())
beforeEach(() => {
  clamd.conduct = () => OK
  clamd.streams.length = 0
})

/** Short, where clamd is silent; enough for its other answers, also on a busy machine. */
const SILENT_MS = 1_000

function scannerOf(url: string, { concurrency = 4, timeoutMs = 60_000 } = {}): VirusScanner {
  const address = clamdAddress(url)
  if (address === undefined) throw new Error(`not an address of clamd: ${url}`)
  return new VirusScanner({ clamd: address, timeoutMs, concurrency, log })
}

function scan(attempts: number, bytes = MAIL, timeoutMs?: number) {
  return scannerOf(clamd.url, { ...(timeoutMs && { timeoutMs }) }).scan({ id: 'a mail', attempts }, bytes)
}

/** How often a scan has ended this way, by the metric. */
async function scans(outcome: string): Promise<number> {
  const { values = [] } = (await register.getSingleMetric('restante_virus_scans_total')?.get()) ?? {}
  return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
}

const failuresWith = (conduct: Conduct) => {
  clamd.conduct = (stream) => (stream.equals(MAIL) ? conduct : OK)
}

/** The outcome of an attempt that counts: where the machine stood still for the short time, clamd seemed to be away. */
const counting = (attempt: () => Promise<unknown>) =>
  waitFor(
    async () => {
      const outcome = await attempt()
      return isInfrastructureError(outcome) ? undefined : outcome
    },
    { what: 'an attempt that counts' },
  )

const timeoutOf = (conduct: Conduct) => (conduct === 'silence' ? SILENT_MS : undefined)

const FAILURES: [string, Conduct][] = [
  ['answers with an error', { answer: "stream: Can't allocate memory ERROR" }],
  ['is silent', 'silence'],
  ['ends the connection', 'end'],
  ['answers without an end', { answer: 'x'.repeat(10_000) }],
  ['answers something else', { answer: 'PONG' }],
]

describe('the virus scanner', () => {
  it('sends the bytes of the mail', async () => {
    expect(await scan(1)).toBe('clean')
    expect(clamd.streams).toEqual([MAIL])
  })

  it('sends large bytes whole', async () => {
    const large = Buffer.alloc(clamd.streamMaxLength, 'a line of a large mail\r\n')
    expect(await scan(1, large)).toBe('clean')
    expect(clamd.streams[0]?.equals(large)).toBe(true)
  })

  it.each([
    ['stream: Win.Test.EICAR_HDB-1 FOUND', 'virus'],
    ['stream: Eicar-Test-Signature(44d88612fea8a8f36de82e1278abb02f:68) FOUND', 'virus'],
    ['instream(127.0.0.1@5): Win.Test.EICAR_HDB-1 FOUND', 'virus'],
    ['instream(127.0.0.1@5): OK', 'clean'],
    ['stream: Heuristics.Phishing.Email.SpoofedDomain FOUND', 'suspicious'],
    ['stream: Heuristics.Encrypted.Zip FOUND', 'suspicious'],
    ['stream: PUA.Pdf.Trojan.EmbeddedJavaScript-1 FOUND', 'suspicious'],
    ['stream: Email.Phishing.Bank-1 FOUND', 'suspicious'],
    ['stream: Structured.SSN FOUND', 'suspicious'],
    ['stream: Heuristics.Limits.Exceeded.MaxScanSize FOUND', 'unscanned'],
  ])('reads the answer "%s" as %s', async (answer, verdict) => {
    clamd.conduct = () => ({ answer })
    expect(await scan(1)).toBe(verdict)
  })

  it.each([0, 1])(
    'lets a mail pass at once that is larger than StreamMaxLength, with %i lost answers',
    async (lost) => {
      const before = await scans('too_large')
      clamd.lostAnswers = lost
      expect(await scan(1, Buffer.alloc(clamd.streamMaxLength + 1))).toBe('unscanned')
      expect(await scans('too_large')).toBe(before + 1)
    },
  )

  it('takes no more scans at a time than it is configured for', async () => {
    const scanner = scannerOf(clamd.url, { concurrency: 1, timeoutMs: SILENT_MS })
    clamd.conduct = () => 'silence'
    const outcomes = await Promise.allSettled([1, 2].map((id) => scanner.scan({ id: `${id}`, attempts: 1 }, MAIL)))
    expect(outcomes.map((one) => one.status === 'rejected' && isInfrastructureError(one.reason))).toEqual([false, true])
    clamd.conduct = () => OK
    // Again, if the machine stands still during the short time.
    const third = () => scanner.scan({ id: '3', attempts: 1 }, MAIL)
    expect(await waitFor(third, { what: 'a scan' })).toBe('clean')
  })
})

describe('when clamd, for one mail only,', () => {
  it.each(FAILURES)('%s, attempts are counted, and the third ends without a scan', async (_how, conduct) => {
    failuresWith(conduct)
    for (const attempt of [1, 2]) {
      const error = await counting(() => scan(attempt, MAIL, timeoutOf(conduct)).catch((thrown: unknown) => thrown))
      expect(error).toBeInstanceOf(ScanFailedError)
      expect(isInfrastructureError(error)).toBe(false)
    }
    const before = await scans('unscannable')
    const third = () => scan(3, MAIL, timeoutOf(conduct)).catch((thrown: unknown) => thrown)
    expect(await counting(third)).toBe('unscanned')
    expect(await scans('unscannable')).toBe(before + 1)
  })
})

describe('when clamd, for everything,', () => {
  it.each(FAILURES)('%s, every further attempt is one that does not count', async (_how, conduct) => {
    clamd.conduct = () => conduct
    for (const attempt of [2, 3, 30]) {
      const error = await scan(attempt, MAIL, timeoutOf(conduct)).catch((thrown: unknown) => thrown)
      expect(isInfrastructureError(error)).toBe(true)
    }
    // The mail itself was not sent again.
    expect(clamd.streams.some((stream) => stream.equals(MAIL))).toBe(false)
  })

  it.each([1, 3])('is not there, attempt %i does not count', async (attempts) => {
    const gone = await new FakeClamd().start()
    const scanner = scannerOf(gone.url)
    await gone.stop()
    const before = await scans('unavailable')
    const error = await scanner.scan({ id: 'a mail', attempts }, MAIL).catch((thrown: unknown) => thrown)
    expect(isInfrastructureError(error)).toBe(true)
    expect(await scans('unavailable')).toBe(before + 1)
  })
})

describe('the address of clamd', () => {
  it.each([
    ['tcp://127.0.0.1:3310', { host: '127.0.0.1', port: 3310 }],
    ['tcp://clamd.security.svc:3310', { host: 'clamd.security.svc', port: 3310 }],
    ['tcp://[::1]:3310', { host: '::1', port: 3310 }],
    ['unix:///run/clamav/clamd.ctl', { path: '/run/clamav/clamd.ctl' }],
    ['tcp://clamd', undefined],
    ['unix://run/clamd.ctl', undefined],
    ['http://clamd:3310', undefined],
    ['clamd:3310', undefined],
  ])('%s is read as %j', (text, address) => {
    expect(clamdAddress(text)).toEqual(address)
  })
})
