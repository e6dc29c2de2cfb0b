/** A count over the records of the topics, which shares no code with the service: the names of headers and members are all. */
export interface TopicRecord {
  readonly headers: Readonly<Record<string, string>>
  readonly value: string
}

/** The place of an event, as its headers name it. */
interface Fact {
  readonly type: string
  readonly at: number
  readonly of: Readonly<Record<Tier, string | undefined>>
  readonly payload: Readonly<Record<string, unknown>>
}

type Tier = 'organization' | 'pod' | 'inbox'

export interface Asked {
  readonly tier: Tier
  readonly id: string
  readonly from: number
  readonly to: number
  /** Milliseconds. */
  readonly period: number
}

export class Recount {
  readonly #facts: Fact[] = []
  /** When inboxes were deleted. */
  readonly #deletions = new Map<string, number>()

  constructor(records: Iterable<TopicRecord>) {
    const seen = new Set<string>()
    for (const { headers, value } of records) {
      const { ce_id: id = '', ce_type: type = '', ce_time: time = '' } = headers
      if (seen.has(id)) continue
      seen.add(id)
      const of = { organization: headers['ce_organizationid'], pod: headers['ce_podid'], inbox: headers['ce_inboxuid'] }
      const payload: unknown = JSON.parse(value)
      if (!isObject(payload)) throw new Error(`no object: ${value}`)
      this.#facts.push({ type, at: Date.parse(time), of, payload })
      if (type === 'inbox.deleted') this.#deletions.set(String(of.inbox), Date.parse(String(payload['deleted_at'])))
    }
  }

  /** Ids of the scopes of a tier. */
  scopes(tier: Tier): string[] {
    return [...new Set(this.#facts.flatMap(({ of }) => of[tier] ?? []))]
  }

  /** Events of a type by the start of their period, oldest first; empty periods are left out. */
  events(type: string, { from, to, period, ...scope }: Asked): { timestamp: string; count: number }[] {
    const counts = new Map<number, number>()
    for (const { at } of this.#in(scope)(type)) {
      if (at < from || at >= to) continue
      const start = at - ((at - from) % period)
      counts.set(start, (counts.get(start) ?? 0) + 1)
    }
    return [...counts].sort(([a], [b]) => a - b).map(([at, count]) => ({ timestamp: iso(at), count }))
  }

  /** Times of single events of a type, oldest first. */
  times(type: string, { from, to, ...scope }: Omit<Asked, 'period'>): { timestamp: string; count: number }[] {
    const times = this.#in(scope)(type).flatMap(({ at }) => (at >= from && at < to ? [at] : []))
    return times.sort((a, b) => a - b).map((at) => ({ timestamp: iso(at), count: 1 }))
  }

  /** Running totals at the start of each period. */
  usage(name: string, { from, to, period, ...scope }: Asked): { timestamp: string; value: number }[] {
    const changes = this.#in(scope)().flatMap(({ type, at, payload, of }) => {
      const value = grown(name, type, payload)
      if (value === 0) return []
      const gone = this.#deletions.get(String(of.inbox)) ?? Number.POSITIVE_INFINITY
      return [{ at, until: gone, value }]
    })
    return points({ from, to, period }).map((at) => ({
      timestamp: iso(at),
      value: changes.reduce((sum, change) => (change.at <= at && at < change.until ? sum + change.value : sum), 0),
    }))
  }

  /** Shares of what was sent before the start of each period. @param window in milliseconds. */
  rates(name: 'bounce' | 'complaint', { from, to, period, ...scope }: Asked, window: number) {
    const of = this.#in(scope)
    const amounts = {
      sent: of('delivery.handed_over').map((fact) => [fact.at, recipients(fact)]),
      bounced: of('delivery.bounced').map((fact) => [
        fact.at,
        fact.payload['type'] === 'Permanent' && fact.payload['unproven'] !== true ? recipients(fact) : 0,
      ]),
      complained: of('delivery.complained').map((fact) => [
        fact.at,
        fact.payload['unproven'] === true ? 0 : recipients(fact),
      ]),
    }
    return points({ from, to, period }).map((end) => {
      const within = (what: keyof typeof amounts) =>
        amounts[what].reduce((sum, [at = 0, count = 0]) => (at >= end - window && at < end ? sum + count : sum), 0)
      const sent = Math.max(within('sent'), within('bounced'))
      const back = within(name === 'bounce' ? 'bounced' : 'complained')
      return { timestamp: iso(end), rate: sent === 0 ? null : back / sent, sent }
    })
  }

  /** The facts of a scope, of one type or of all. A deleted inbox has none. */
  #in({ tier, id }: Pick<Asked, 'tier' | 'id'>) {
    const facts = tier === 'inbox' && this.#deletions.has(id) ? [] : this.#facts.filter(({ of }) => of[tier] === id)
    return (type?: string) => (type === undefined ? facts : facts.filter((fact) => fact.type === type))
  }
}

function grown(name: string, type: string, payload: Fact['payload']): number {
  const sign = type === 'message.stored' ? 1 : type === 'message.deleted' ? -1 : 0
  switch (name) {
    case 'storage_bytes':
      return type.startsWith('draft.') ? Number(payload['grown'] ?? 0) : sign && sign * Number(payload['size'])
    case 'message_count':
      return sign
    case 'thread_count':
      return payload['thread_created'] === true || payload['thread_deleted'] === true ? sign : 0
    default:
      throw new Error(`no such usage: ${name}`)
  }
}

function points({ from, to, period }: Pick<Asked, 'from' | 'to' | 'period'>): number[] {
  return Array.from({ length: Math.ceil((to - from) / period) }, (_, index) => from + index * period)
}

function recipients({ payload }: Fact): number {
  return Array.isArray(payload['recipients']) ? payload['recipients'].length : 0
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
