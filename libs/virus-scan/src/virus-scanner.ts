import type { NetConnectOpts } from 'node:net'
import { LIMITS } from '@restante/contracts/vocabulary'
import { Semaphore, within } from '@restante/service/concurrency'
import { UpstreamError } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'
import { ScanFailedError, scanStream } from './clamd.ts'
import { virusScans } from './telemetry.ts'

export interface VirusScannerOptions {
  readonly clamd: NetConnectOpts
  /** Time limit of one scan. */
  readonly timeoutMs: number
  /** Scans at a time. */
  readonly concurrency: number
  readonly log: Logger
}

/** A mail to be scanned. */
interface ScannedMail {
  readonly id: string
  /** Including this one. */
  readonly attempts: number
}

/**
 * `suspicious`: a heuristic or a category matched, not the signature of a virus. `unscanned`: clamd cannot scan this
 * mail, although it can scan others.
 */
export type VirusVerdict = 'clean' | 'virus' | 'suspicious' | 'unscanned'

/** With AlertExceedsMax, clamd reports by this name what exceeds a limit of its own. */
const OVER_LIMIT = /^Heuristics\.Limits\.Exceeded/
/**
 * Names of what clamd does not recognise as one virus: its heuristics, possibly unwanted applications, phishing and
 * structured data. They match genuine mail too often for it to be discarded without a bounce.
 */
const NO_VIRUS = /^(?:Heuristics|PUA|Structured)\.|^(?:[^.]+\.)?Phishing\./
const PROBE = Buffer.from('Subject: probe\r\n\r\n')
/** Most time for it; that of a scan if that is less. */
const PROBE_MS = 5_000

/**
 * Has clamd scan received mail (mail 13 step 3) and outgoing mail. While clamd is down or answers nothing, mail waits in
 * its queue, without a limit: it is neither lost nor passes without a scan. A mail that clamd cannot scan, while it can
 * scan something else, passes without one after as many attempts as a mail gets that cannot be parsed.
 */
export class VirusScanner {
  readonly #options: VirusScannerOptions
  readonly #permits: Semaphore

  constructor(options: VirusScannerOptions) {
    this.#options = options
    this.#permits = new Semaphore(options.concurrency)
  }

  /**
   * @throws UpstreamError when clamd is unavailable: retry without counting an attempt; ScanFailedError when it failed
   * with this mail: retry.
   */
  async scan(mail: ScannedMail, raw: Buffer): Promise<VirusVerdict> {
    const release = await this.#permit()
    try {
      // The failure of an earlier attempt may have been that of clamd itself. Only if it works now is the mail to blame
      // for what happens next.
      if (mail.attempts > 1) await this.#probe()
      return await this.#scan(mail, raw)
    } catch (error) {
      virusScans.inc({ outcome: error instanceof ScanFailedError ? 'failed' : 'unavailable' })
      throw error
    } finally {
      release()
    }
  }

  async #scan(mail: ScannedMail, raw: Buffer): Promise<VirusVerdict> {
    const { clamd, timeoutMs, log } = this.#options
    try {
      const answer = await scanStream(clamd, raw, timeoutMs)
      if (answer.kind === 'clean') return counted('clean')
      if (answer.kind === 'too_large') return this.#unscanned(mail, 'too_large', 'over StreamMaxLength of clamd')
      const { signature } = answer
      if (OVER_LIMIT.test(signature)) return this.#unscanned(mail, 'too_large', signature)
      log.info({ mail: mail.id, signature }, 'virus scanner found a signature')
      return counted(NO_VIRUS.test(signature) ? 'suspicious' : 'virus')
    } catch (error) {
      if (!(error instanceof ScanFailedError) || mail.attempts < LIMITS.inbound.attempts) throw error
      return this.#unscanned(mail, 'unscannable', error.message)
    }
  }

  #unscanned({ id }: ScannedMail, outcome: 'too_large' | 'unscannable', reason: string): VirusVerdict {
    virusScans.inc({ outcome })
    this.#options.log.warn({ mail: id, reason }, 'mail not scanned for viruses')
    return 'unscanned'
  }

  /** Scans a few bytes. @throws UpstreamError when that fails. */
  async #probe(): Promise<void> {
    const { clamd, timeoutMs } = this.#options
    try {
      await scanStream(clamd, PROBE, Math.min(timeoutMs, PROBE_MS))
    } catch (cause) {
      throw new UpstreamError('clamd does not work', { cause })
    }
  }

  /** @throws UpstreamError when other scans take all permits for longer than one may take. */
  #permit(): Promise<() => void> {
    const permit = this.#permits.take()
    return within(this.#options.timeoutMs, permit, () => {
      void permit.then((release) => release())
      throw new UpstreamError('clamd has too many scans in progress')
    })
  }
}

function counted(verdict: 'clean' | 'virus' | 'suspicious'): VirusVerdict {
  virusScans.inc({ outcome: verdict })
  return verdict
}
