import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import { ByteSemaphore } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { ScanFailedError, type VirusScanner, type VirusVerdict } from '@restante/virus-scan'
import type { DeliveryTarget } from '../../timers/kinds.ts'
import type { Decisions } from '../attempts/decisions.ts'
import { begin } from '../attempts/store.ts'
import { outboundBlob, type SendRecord } from '../outbound/sends.ts'
import type { Decided, Decision } from '../outcome/delivery.ts'
import { scans } from './store.ts'

export interface OutboundScanOptions {
  readonly db: Database
  readonly blobs: BlobStore
  readonly scanner: VirusScanner
  readonly decisions: Decisions
  readonly log: Logger
}

/** Whether a message may leave; `busy`: another attempt has it scanned. */
export type Admission = 'pass' | 'rejected' | 'busy'

/** Messages in memory at the same time, while they are scanned. */
const SCANNED_BYTES = 32 * 1024 * 1024

/** Nothing is wrong with the addresses, so none is suppressed. */
const REJECTED: Decision = {
  state: 'rejected',
  verdict: { status: '5.7.0', text: 'A virus was found in the message.' },
}

/**
 * Has each outgoing message scanned before its first attempt (mail 15.1), once, whatever the number of its recipients and
 * destinations: the verdict is kept with the message. While clamd is down, messages wait, without a limit.
 */
export class OutboundScan {
  readonly #options: OutboundScanOptions
  readonly #memory = new ByteSemaphore({ bytes: SCANNED_BYTES })

  constructor(options: OutboundScanOptions) {
    this.#options = options
  }

  /**
   * Whether a message may leave. One with a virus is rejected as a whole, in the transaction that records the verdict:
   * its deliveries end, and its event is published once.
   * @throws UpstreamError while clamd is unavailable; ScanFailedError when it failed with this message. Both: again later.
   */
  async admit({ send_id, destination }: DeliveryTarget): Promise<Admission> {
    const { db } = this.#options
    const found = await scans.find(db, send_id)
    // Codes and mail to the operator, which was scanned when it arrived, are the installation's own.
    if (!found || found.send.origin.kind === 'system') return 'pass'
    const { send, verdict } = found
    if (verdict !== null && verdict !== 'virus') return 'pass'
    if (verdict === 'virus') {
      // What an attempt from before the scanner was configured had, when the message was rejected.
      await db.transaction((tx) => this.#reject(tx, send, destination))
      return 'rejected'
    }
    // The claim is made when there is room: it must not run out while others are scanned.
    const scanned = await this.#memory.within(send.size, async () => {
      const failures = await scans.claim(db, send_id)
      return failures === undefined ? undefined : this.#scan(send, failures)
    })
    return scanned === undefined ? 'busy' : this.#conclude(send, destination, scanned)
  }

  async #scan({ id }: SendRecord, failures: number): Promise<VirusVerdict> {
    const { db, blobs, scanner, log } = this.#options
    try {
      return await scanner.scan({ id, attempts: failures + 1 }, await blobs.buffer(outboundBlob(id)))
    } catch (error) {
      // The attempt finds out, and gives the message up when its time is over.
      if (error instanceof BlobNotFoundError) return 'unscanned'
      log.warn({ err: error, send: id }, 'outgoing message waits for its virus scan')
      // If this fails too, the claim runs out.
      await scans.giveBack(db, id, error instanceof ScanFailedError ? 1 : 0).catch(() => {})
      throw error
    }
  }

  async #conclude(send: SendRecord, destination: string, verdict: VirusVerdict): Promise<Admission> {
    const { db, log } = this.#options
    if (verdict !== 'virus') {
      await scans.save(db, send.id, verdict)
      return 'pass'
    }
    const count = await db.transaction(async (tx) =>
      (await scans.save(tx, send.id, verdict)) ? this.#reject(tx, send, destination) : 0,
    )
    log.warn({ send: send.id, message_id: send.messageId, deliveries: count }, 'outgoing message with a virus rejected')
    return 'rejected'
  }

  /** @returns how many deliveries it has ended. */
  async #reject(tx: Tx, send: SendRecord, destination: string): Promise<number> {
    const waiting = await scans.takeWaiting(tx, send.id, destination)
    const decided = (await begin(tx, waiting)).map((delivery): Decided => ({ delivery, decision: REJECTED }))
    await this.#options.decisions.record(tx, send, decided)
    return decided.length
  }
}
