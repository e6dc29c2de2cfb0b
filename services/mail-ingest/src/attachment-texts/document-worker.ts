import { randomUUID } from 'node:crypto'
import { BlobNotFoundError } from '@restante/blobs'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type DocumentReader, ParserCrashedError, ParserTimeoutError } from '@restante/mime'
import type { Database } from '@restante/service/database'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { RawMailBytes } from '../raw/bytes.ts'
import { fetchDocument } from './fetch.ts'
import { attachmentTexts, type LeasedAttachment } from './store.ts'
import { documentsRead, documentsWaiting } from './telemetry.ts'

export interface DocumentWorkerOptions {
  readonly db: Database
  readonly bytes: RawMailBytes
  readonly reader: DocumentReader
  /** Documents that are read concurrently; none waits until another one is read. */
  readonly threads: number
  readonly log: Logger
}

/** About the time after which an attachment is looked at. */
const EVERY_MS = 500
/** Wait after a failure that the document has not caused, and after one that it may have caused. */
const OUTAGE_MS = 10_000
const RETRY_MS = 1_000
/** Organizations whose turn was last, and comes after that of others. */
const SERVED = 1_000

/**
 * Reads the text of documents among the attachments, after their message is stored: a mail waits for no document. One that
 * ends its thread is tried again, and then given up.
 */
export class DocumentWorker implements Component {
  readonly name = 'document worker'
  readonly #options: DocumentWorkerOptions
  readonly #jobs: readonly Periodic[]
  /** The latest last. */
  readonly #served = new Set<string>()
  /** The number of those that wait is read once in so many runs. */
  #runs = 0

  constructor(options: DocumentWorkerOptions) {
    this.#options = options
    const { log, threads } = options
    const job = { name: this.name, everyMs: EVERY_MS, log, work: (stopping: AbortSignal) => this.work(stopping) }
    this.#jobs = Array.from({ length: threads }, () => new Periodic(job))
  }

  async start(): Promise<void> {
    await Promise.all(this.#jobs.map((job) => job.start()))
  }

  /** Ends the threads: documents that are being read are read again later. */
  async stop(): Promise<void> {
    await Promise.all([this.#options.reader.close(), ...this.#jobs.map((job) => job.stop())])
  }

  /** Reads the documents that wait, one after the other. */
  async work(stopping?: AbortSignal): Promise<void> {
    const { db } = this.#options
    if (this.#runs++ % 20 === 0) documentsWaiting.set(await attachmentTexts.backlog(db))
    while (!stopping?.aborted) {
      const leased = await attachmentTexts.take(db, randomUUID(), [...this.#served])
      if (leased === undefined) return
      this.#serve(leased.organization_id)
      if (!(await this.#conclude(leased))) return
    }
  }

  #serve(organizationId: string): void {
    this.#served.delete(organizationId)
    this.#served.add(organizationId)
    const [oldest] = this.#served
    if (this.#served.size > SERVED && oldest !== undefined) this.#served.delete(oldest)
  }

  /** @returns false while none can be read, whichever document is next. */
  async #conclude(leased: LeasedAttachment): Promise<boolean> {
    const begun = performance.now()
    const { message_uid: message, attachment_id: attachment, attempts: attempt } = leased
    const facts = () => ({ message, attachment, attempt, ms: Math.round(performance.now() - begun) })
    const { log } = this.#options
    try {
      const outcome = await this.#read(leased)
      documentsRead.inc({ outcome })
      if (outcome !== 'not_a_document') log.info({ ...facts(), outcome }, 'attachment read')
      return true
    } catch (error) {
      const isAtFault = error instanceof ParserCrashedError || error instanceof ParserTimeoutError
      documentsRead.inc({ outcome: isAtFault ? 'failed' : 'outage' })
      log.warn({ ...facts(), err: error }, 'attachment not read')
      // If this fails too, the lease runs out.
      await this.#release(leased, isAtFault).catch(() => {})
      return isAtFault
    }
  }

  async #release(leased: LeasedAttachment, isAtFault: boolean): Promise<void> {
    const { db } = this.#options
    if (isAtFault && leased.attempts >= LIMITS.document.attempts) await attachmentTexts.giveUp(db, leased, 'killed')
    else await attachmentTexts.giveBack(db, leased, isAtFault, isAtFault ? RETRY_MS : OUTAGE_MS)
  }

  /** @returns the outcome, which is recorded. */
  async #read(leased: LeasedAttachment): Promise<string> {
    const { db, reader } = this.#options
    // The process died at each of them.
    if (leased.attempts > LIMITS.document.attempts) {
      await attachmentTexts.giveUp(db, leased, 'killed')
      return 'killed'
    }
    const document = await this.#fetch(leased)
    const reading = document === undefined ? undefined : await reader.read(document)
    if (reading === undefined || (reading.outcome === 'unreadable' && reading.reason === 'not_a_document')) {
      await attachmentTexts.forget(db, leased)
      return 'not_a_document'
    }
    if (reading.outcome === 'read') {
      await db.transaction((tx) => attachmentTexts.save(tx, leased, reading.text))
      return reading.outcome
    }
    await attachmentTexts.giveUp(db, leased, reading.reason)
    return reading.reason
  }

  /** @returns undefined for what is no document, or was deleted meanwhile. */
  async #fetch({ blob, attachments, attachment_id }: LeasedAttachment): Promise<Buffer | undefined> {
    const listed = attachments.find((attachment) => attachment.attachment_id === attachment_id)
    try {
      return listed && (await fetchDocument(this.#options.bytes, blob, listed))
    } catch (error) {
      if (error instanceof BlobNotFoundError) return undefined
      throw error
    }
  }
}
