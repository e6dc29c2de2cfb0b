import type { Outbox } from '@restante/messaging'
import { normalizeAddress } from '@restante/mime'
import type { Tx } from '@restante/service/database'
import { markAllHandedOver, markRejected, type SendRecord } from '../outbound/sends.ts'
import { type Decided, type Decision, UNDETERMINED } from '../outcome/delivery.ts'
import type { Occurrence } from '../outcome/delivery-events.ts'
import { type Happened, publishAll } from '../outcome/publish.ts'
import { type Recording, suppressBounced } from '../outcome/suppressions.ts'
import { saveDecisions } from './store.ts'
import { installationMailFailures } from './telemetry.ts'

/** What is decided about deliveries of one message. */
export interface DecidedSend {
  readonly send: SendRecord
  readonly decided: readonly Decided[]
}

/** Tells senders of deliveries that have failed. */
export interface Notices {
  schedule(tx: Tx, deliveryIds: readonly string[]): Promise<void>
}

/** Records the outcomes of attempts, and everything that follows from them, in one transaction. */
export class Decisions {
  readonly #outbox: Outbox
  readonly #notices: Notices

  constructor(outbox: Outbox, notices: Notices) {
    this.#outbox = outbox
    this.#notices = notices
  }

  /**
   * States, events and suppression entries together. A delivery that another attempt has taken in the meantime is left
   * alone. The event that the message was sent comes first, and once per message: when a server, or an inbox here, has
   * answered.
   */
  record(tx: Tx, send: SendRecord, decided: readonly Decided[]): Promise<void> {
    return this.recordAll(tx, [{ send, decided }])
  }

  /** The same for several messages, in as many statements as for one. */
  async recordAll(tx: Tx, items: readonly DecidedSend[]): Promise<void> {
    const saved = await saveDecisions(
      tx,
      items.flatMap(({ decided }) => decided),
    )
    const own = items.map(({ send, decided }) => ({
      send,
      decided: decided.filter((one) => saved.has(one)),
    }))
    const answered = own.filter(({ decided }) => decided.some(({ decision }) => decision.verdict.mta !== undefined))
    const sent = await markAllHandedOver(tx, [...new Set(answered.map(({ send }) => send.id))])
    const happened: Happened[] = []
    for (const { send, decided } of own) {
      const first = sent.get(send.id)
      // Once, where several destinations of one message have answered at the same time.
      sent.delete(send.id)
      const occurrences: Occurrence[] = [
        ...(first ? [{ kind: 'handed_over' as const, ...first }] : []),
        ...occurrencesOf(decided),
        ...(await this.#rejected(tx, send, decided)),
      ]
      if (send.origin.kind === 'system') installationMailFailures.inc(bouncedIn(decided).length)
      happened.push({ send, occurrences })
    }
    const recording = { tx, outbox: this.#outbox }
    await publishAll(recording, happened)
    await this.#notices.schedule(
      tx,
      own.flatMap(({ send, decided }) => (send.origin.kind === 'inbox' ? bouncedIn(decided) : [])),
    )
    await suppressRefused(recording, own)
  }

  /** A message is rejected as a whole; when part of it was sent before, the rest of its recipients bounce. */
  async #rejected(tx: Tx, send: SendRecord, decided: readonly Decided[]): Promise<Occurrence[]> {
    const rejected = decided.filter(({ decision }) => decision.state === 'rejected')
    const [first] = rejected
    if (!first) return []
    const reason = first.decision.verdict.text
    const was = await markRejected(tx, send.id)
    if (was !== 'sent') return was === 'waiting' ? [{ kind: 'rejected', reason }] : []
    const recipients = rejected.map(({ delivery }) => delivery.recipient)
    return [{ kind: 'bounced', recipients, bounce: UNDETERMINED, diagnostic: reason }]
  }
}

/** One item for each answer, with all recipients that got the same one. Those inside get theirs from this installation. */
function occurrencesOf(decided: readonly Decided[]): Occurrence[] {
  const groups = Map.groupBy(decided, ({ delivery, decision }) => `${delivery.inside} ${answerKey(decision)}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const recipients = group.map(({ delivery }) => delivery.recipient)
    const item = occurrenceOf(first, recipients)
    return item ? [item] : []
  })
}

function occurrenceOf({ delivery, decision }: Decided, recipients: string[]): Occurrence | undefined {
  const { text: diagnostic, mta: remote } = decision.verdict
  switch (decision.state) {
    case 'delivered':
      return { kind: 'delivered', recipients, remote }
    case 'bounced':
      return { kind: 'bounced', recipients, bounce: decision.bounce, diagnostic, inside: delivery.inside }
    case 'deferred':
      return decision.announceDelay ? { kind: 'delayed', recipients, diagnostic } : undefined
    case 'rejected':
      return undefined
  }
}

function answerKey(decision: Decision): string {
  const { status, text, mta } = decision.verdict
  const announced = decision.state === 'deferred' && decision.announceDelay
  return JSON.stringify([decision.state, decision.state === 'delivered' ? mta : [status, text], announced])
}

function bouncedIn(decided: readonly Decided[]): string[] {
  return decided.flatMap(({ delivery, decision }) => (decision.state === 'bounced' ? [delivery.id] : []))
}

/** Addresses in one order: two transactions that suppress the same ones never wait for each other in a circle. */
async function suppressRefused(recording: Recording, items: readonly DecidedSend[]): Promise<void> {
  const refused = items.flatMap(({ send, decided }) =>
    decided.flatMap(({ delivery, decision }) =>
      decision.state === 'bounced' ? [{ send, recipient: delivery.recipient, bounce: decision.bounce }] : [],
    ),
  )
  const keyOf = ({ send, recipient }: (typeof refused)[number]) =>
    `${send.origin.kind === 'inbox' ? send.origin.organizationId : ''} ${normalizeAddress(recipient)}`
  for (const one of refused.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    await suppressBounced(recording, one.send, one.recipient, one.bounce)
}
