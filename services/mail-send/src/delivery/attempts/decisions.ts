import type { Outbox } from '@restante/messaging'
import { normalizeAddress } from '@restante/mime'
import type { Tx } from '@restante/service'
import { markHandedOver, markRejected, type SendRecord } from '../outbound/sends.ts'
import { type BegunDelivery, type Settlement, UNDETERMINED } from '../outcome/delivery.ts'
import { deliveriesTopic, factsOf, type News } from '../outcome/delivery-events.ts'
import { suppress } from '../outcome/suppressions.ts'
import { saveSettlement } from './store.ts'

export interface Settled {
  readonly delivery: BegunDelivery
  readonly settlement: Settlement
}

/** Records the outcomes of attempts, and everything that follows from them, in one transaction. */
export class Settlements {
  readonly #outbox: Outbox

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  /**
   * States, events and suppression entries together. A delivery that another attempt has taken in the meantime is left
   * alone. The event that the message was sent comes first, and once per message: when a server, or an inbox here, has
   * answered.
   */
  async record(tx: Tx, send: SendRecord, settled: readonly Settled[]): Promise<void> {
    const own: Settled[] = []
    for (const item of settled) {
      if (await saveSettlement(tx, item.delivery, item.settlement)) own.push(item)
    }
    const news: News[] = []
    if (own.some(({ settlement }) => settlement.verdict.mta !== undefined)) {
      const recipients = await markHandedOver(tx, send.id)
      if (recipients) news.push({ kind: 'handed_over', recipients })
    }
    news.push(...newsOf(own), ...(await this.#rejected(tx, send, own)))
    await this.#outbox.addAll(tx, deliveriesTopic, factsOf(send, news, new Date()))
    await suppressRefused(tx, send, own)
  }

  /** A message is rejected as a whole; when part of it was sent before, the rest of its recipients bounce. */
  async #rejected(tx: Tx, send: SendRecord, settled: readonly Settled[]): Promise<News[]> {
    const rejected = settled.filter(({ settlement }) => settlement.state === 'rejected')
    const [first] = rejected
    if (!first) return []
    const reason = first.settlement.verdict.text
    if (await markRejected(tx, send.id)) return [{ kind: 'rejected', reason }]
    const recipients = rejected.map(({ delivery }) => delivery.recipient)
    return [{ kind: 'bounced', recipients, bounce: UNDETERMINED, diagnostic: reason }]
  }
}

/** One item for each answer, with all recipients that got the same one. */
function newsOf(settled: readonly Settled[]): News[] {
  const groups = Map.groupBy(settled, ({ settlement }) => answerKey(settlement))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const recipients = group.map(({ delivery }) => delivery.recipient)
    const item = newsItem(first.settlement, recipients)
    return item ? [item] : []
  })
}

function newsItem(settlement: Settlement, recipients: string[]): News | undefined {
  const { text: diagnostic, mta: remote } = settlement.verdict
  switch (settlement.state) {
    case 'delivered':
      return { kind: 'delivered', recipients, remote }
    case 'bounced':
      return { kind: 'bounced', recipients, bounce: settlement.bounce, diagnostic }
    case 'deferred':
      return settlement.announceDelay ? { kind: 'delayed', recipients, diagnostic } : undefined
    case 'rejected':
      return undefined
  }
}

function answerKey(settlement: Settlement): string {
  const { status, text, mta } = settlement.verdict
  const announced = settlement.state === 'deferred' && settlement.announceDelay
  return JSON.stringify([settlement.state, settlement.state === 'delivered' ? mta : [status, text], announced])
}

async function suppressRefused(tx: Tx, { origin }: SendRecord, settled: readonly Settled[]): Promise<void> {
  if (origin.kind === 'system') return
  for (const { delivery, settlement } of settled) {
    if (settlement.state !== 'bounced' || !settlement.bounce.suppress) continue
    await suppress(tx, origin.organizationId, normalizeAddress(delivery.recipient), 'bounced')
  }
}
