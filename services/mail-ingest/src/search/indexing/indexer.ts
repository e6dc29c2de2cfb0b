import { LIMITS } from '@restante/contracts/vocabulary'
import { affordableText } from '@restante/mime'
import type { Database } from '@restante/service/database'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Counter, Gauge } from 'prom-client'
import { storable } from '../../content/mail-content.ts'
import { Stems } from '../text/stems.ts'
import { termsOf } from '../text/terms.ts'
import { folded } from '../text/words.ts'
import { type IndexedMessage, type SearchableEntry, searchable, searchedText } from './store.ts'

const indexed = new Counter({ name: 'restante_search_indexed_total', help: 'Messages that search finds' })
const unindexed = new Gauge({
  name: 'restante_search_unindexed',
  help: 'Stored messages that search does not find yet, at most 100,000; every process of the service reports the same',
})

/** About the time after which a search finds a mail. */
const EVERY_MS = 250
const BATCH = 50
/** Messages of an earlier release that are queued at once, to read their html. */
const QUEUED = 200
/** After this time a batch ends: PostgreSQL ends a transaction that idles for long. */
const BATCH_MS = 500
const { bodyText, headerText } = LIMITS.search

/**
 * Makes stored messages searchable, after they were stored: the terms of a message are many, so that the pipeline would
 * spend more on them than on the mail. A message waits in a table from the transaction that stores it until the one that
 * indexes it.
 */
export class SearchIndexer implements Component {
  readonly name = 'search indexer'
  readonly #db: Database
  readonly #batchMs: number
  readonly #job: Periodic
  /** The number of waiting messages is read once in so many runs. */
  #runs = 0

  constructor({ db, log, batchMs = BATCH_MS }: { db: Database; log: Logger; batchMs?: number }) {
    this.#db = db
    this.#batchMs = batchMs
    this.#job = new Periodic({ name: this.name, everyMs: EVERY_MS, log, work: (stopping) => this.index(stopping) })
  }

  start(): Promise<void> {
    return this.#job.start()
  }

  /** Waits for the current batch to end. */
  stop(): Promise<void> {
    return this.#job.stop()
  }

  /** Indexes the messages that wait. */
  async index(stopping?: AbortSignal): Promise<void> {
    if (this.#runs++ % 20 === 0) {
      await searchable.queueUnreadHtml(this.#db, QUEUED)
      unindexed.set(await searchable.backlog(this.#db))
    }
    for (let isMore = true; isMore && !stopping?.aborted; ) isMore = await this.#indexBatch()
  }

  /** @returns whether there may be more to index at once. */
  async #indexBatch(): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const messages = await searchable.take(tx, BATCH)
      const entries: SearchableEntry[] = []
      const until = performance.now() + this.#batchMs
      for (const message of messages) {
        entries.push(await entryOf(message))
        if (performance.now() >= until) break
      }
      const written = await searchable.write(tx, entries)
      tx.afterCommit(() => indexed.inc(written))
      return messages.length === BATCH && written > 0
    })
  }
}

async function entryOf(message: IndexedMessage): Promise<SearchableEntry> {
  const stems = await Stems.load()
  const { html, attachments } = message
  const words = html === null ? undefined : storable(affordableText(html, LIMITS.mime))
  const body = searchedText({ attachments, body: words?.slice(0, bodyText) ?? message.body })
  const subject = folded((message.subject ?? '').slice(0, headerText))
  const people = folded(`${message.sender}\n${message.recipients}`.slice(0, headerText))
  const headers = [subject, ...people.split('\n')]
  const texts = { headers, body: folded(body), documents: folded(message.documents ?? '') }
  const terms = await termsOf(texts, stems)
  return { message, subject, people, ...terms, ...(words !== undefined && { words }) }
}
