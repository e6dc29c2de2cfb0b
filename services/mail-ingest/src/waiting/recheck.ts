import type { Database } from '@restante/service/database'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'
import type { DnsCache } from '../sender/dns/dns-cache.ts'
import { isTemporaryCode } from '../sender/dns/dns-errors.ts'
import type { Question } from '../sender/dns/question.ts'
import { type DueMail, waitingMails } from './store.ts'
import { ASKED_AGAIN_MS, questions } from './waited.ts'

const waiting = new Gauge({
  name: 'restante_mail_waiting',
  help: 'Accepted mails that wait because DNS failed for their sender; every process of the service reports the same',
})
const oldest = new Gauge({
  name: 'restante_mail_waiting_oldest_seconds',
  help: 'Time since the first judgement of the mail that has waited longest; 0 when none waits',
})

const EVERY_MS = 2_000
const BATCH = 200

/**
 * Queries DNS again for the senders of waiting mails. A mail whose queries are answered returns to the queue of its
 * inbox, where its sender is authenticated again; so does one that has waited for an hour, to be stored as
 * unauthenticated. No mail is read here, so that many waiting ones cost little, and delay nothing.
 */
export class WaitingMailRecheck implements Component {
  readonly name = 'waiting mails'
  readonly #db: Database
  readonly #dns: DnsCache
  readonly #notify: () => void
  readonly #job: Periodic
  /** As of the last run. */
  #failing: ReadonlySet<string> = new Set()
  readonly #answered = new Set<string>()

  /** @param options.notify called after mails have returned to the queue. */
  constructor(options: { db: Database; dns: DnsCache; log: Logger; notify: () => void }) {
    const { db, dns, log, notify } = options
    this.#db = db
    this.#dns = dns
    this.#notify = notify
    this.#job = new Periodic({
      name: this.name,
      everyMs: EVERY_MS,
      log,
      work: (stopping) => this.recheck(stopping),
    })
  }

  start(): Promise<void> {
    return this.#job.start()
  }

  /** Waits for the current run to end. */
  stop(): Promise<void> {
    return this.#job.stop()
  }

  /**
   * Called when a mail of this author domain was authenticated without a temporary error: the DNS of the domain works
   * again.
   */
  readonly answered = (domain: string): void => {
    if (this.#failing.has(domain)) this.#answered.add(domain)
  }

  async recheck(stopping?: AbortSignal): Promise<void> {
    for (let more = true; more && !stopping?.aborted; ) {
      const due = await waitingMails.due(this.#db, BATCH)
      if (due.length > 0) await this.#askFor(due)
      more = due.length === BATCH
    }
    const answered = [...this.#answered]
    this.#answered.clear()
    await waitingMails.noteDomains(this.#db, [], answered)
    this.#failing = new Set(await waitingMails.failingDomains(this.#db))
    const { waiting: count, seconds } = await waitingMails.measure(this.#db)
    waiting.set(count)
    oldest.set(seconds)
  }

  async #askFor(due: readonly DueMail[]): Promise<void> {
    const failing = new Set<DueMail>()
    await Promise.all(
      due.map(async (mail) => {
        if (await this.#fails(questions.parse(mail.questions))) failing.add(mail)
      }),
    )
    const final = new Set([...failing].filter(({ times }) => times + 1 >= ASKED_AGAIN_MS.length))
    const back = due.filter((mail) => !failing.has(mail) || final.has(mail))
    const domains = new Set([...failing].map(({ domain }) => domain))
    await this.#db.transaction(async (tx) => {
      await waitingMails.lock(tx)
      const postponed = due.filter((mail) => failing.has(mail) && !final.has(mail))
      await waitingMails.postpone(tx, postponed)
      await waitingMails.giveBack(tx, back, final)
      const answered = back.flatMap(({ domain }) => (domains.has(domain) ? [] : [domain]))
      await waitingMails.noteDomains(tx, [...domains], answered)
    })
    if (back.length > 0) this.#notify()
  }

  async #fails(asked: readonly Question[]): Promise<boolean> {
    const answers = await Promise.all(asked.map((question) => this.#dns.ask(question)))
    return answers.some((answer) => 'code' in answer && isTemporaryCode(answer.code))
  }
}
