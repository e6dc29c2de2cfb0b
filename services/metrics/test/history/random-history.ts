import { randomUUID } from 'node:crypto'
import { type InboxScope, inboxScope } from '@restante/testkit'
import { deleted, delivery, draft, type Happening, mail, storage } from '../support/happenings.ts'

const DAY = 86_400_000

/** Numbers from [0, 1) that depend on the seed alone (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

const TYPES = [
  'message.received',
  'message.received.spam',
  'message.received.blocked',
  'message.received.unauthenticated',
  'message.sent',
  'message.delivered',
  'message.bounced',
  'message.complained',
  'message.rejected',
] as const

export interface History {
  /** Each event once, oldest first. */
  readonly happened: readonly Happening[]
  /** As they reach the topics: many of them twice, and most in another order. */
  readonly delivered: readonly Happening[]
}

/** Two organizations with two pods and six inboxes each, of which one in three is deleted. @param days it lasts, until now. */
export function randomHistory(events: number, seed: number, days: number): History {
  const random = randomFrom(seed)
  const pick = <T>(from: readonly T[]): T => {
    const [picked] = from.slice(Math.floor(random() * from.length))
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }
  const begin = Date.now() - days * DAY
  // A third of all times are whole seconds, so that many events share one, and some are at the bounds of days.
  const time = () => {
    const ms = Math.floor(begin + random() * (Date.now() - begin))
    const draw = random()
    return new Date(draw < 0.3 ? ms - (ms % 1_000) : draw < 0.35 ? ms - (ms % DAY) + Math.floor(random() * 3) - 1 : ms)
  }
  const inboxes = inboxesOf()
  const happened = Array.from({ length: events }, () => happening(pick(inboxes), time(), { random, pick }))
  const gone = inboxes.filter((_, index) => index % 3 === 0).map((scope) => deleted('inbox', scope, time()))
  const all = [...happened, ...gone].sort((a, b) => a.event.time.getTime() - b.event.time.getTime())
  const copies = all.flatMap((one) => (random() < 0.3 ? [one, one] : [one]))
  const placed = copies.map((one, index) => ({ one, place: index + random() * (random() < 0.05 ? events : 50) }))
  return { happened: all, delivered: placed.sort((a, b) => a.place - b.place).map(({ one }) => one) }
}

function inboxesOf(): InboxScope[] {
  return [randomUUID(), randomUUID()].flatMap((organizationId) =>
    [organizationId, randomUUID()].flatMap((podId) => [0, 1, 2].map(() => inboxScope({ organizationId, podId }))),
  )
}

interface Chance {
  random(): number
  pick<T>(from: readonly T[]): T
}

function happening(scope: InboxScope, at: Date, { random, pick }: Chance): Happening {
  const [draw, some] = [random(), 1 + Math.floor(random() * 50_000)]
  if (draw < 0.6) return mail(scope, pick(TYPES), at)
  if (draw < 0.75) return storage(scope, 'message.stored', at, { size: some, thread: random() < 0.5 })
  if (draw < 0.8) return storage(scope, 'message.deleted', at, { size: some, thread: random() < 0.5 })
  if (draw < 0.85) return draft(scope, at, some - 20_000)
  const recipients = 1 + Math.floor(random() * 5)
  // Marks that count nothing, or do not matter to these counts, are among them.
  const marks = {
    type: pick(['Permanent', 'Transient'] as const),
    isInside: random() < 0.3,
    isUnproven: random() < 0.3,
  }
  if (draw < 0.96) return delivery(scope, 'delivery.handed_over', at, recipients, marks)
  return delivery(scope, draw < 0.98 ? 'delivery.bounced' : 'delivery.complained', at, recipients, marks)
}
