import { KeyedMutex, Semaphore } from '@restante/service/concurrency'
import type { Queryable } from '@restante/service/database'
import { Gauge } from 'prom-client'
import { documentsAt, type EventHead, extentOf, headsAfter } from '../log/scoped.ts'
import { idsOf } from '../subscriptions/reach.ts'
import { type StreamEvent, streamEventOf } from '../subscriptions/subscriptions.ts'

const pagesInHand = new Gauge({
  name: 'restante_stream_pages',
  help: 'Pages of missed events that are read, or that their readers have not taken yet',
})

/** Most events that one page looks at. */
const PAGE_EVENTS = 500
/** Documents on a page; one that is larger comes alone. */
const PAGE_BYTES = 1024 * 1024
/** Pages that an instance reads at once. */
const CONCURRENCY = 3
/**
 * Pages of one organization in memory at once, for its streams, and for its polls: a reader that takes nothing keeps one
 * for as long as it is waited for, and polls do not wait for streams that stall.
 */
const PAGES_IN_HAND = 32
/** Longest wait for a turn: streams of one organization that come back together take turns. */
const TURN_MS = 60_000

/** What is wanted of the log. */
export interface Wanted {
  readonly organizationId: string
  /** Scopes within the reach of the caller, in the form of `scopesOf`. */
  readonly scopes: readonly string[]
  readonly matches: (event: StreamEvent, position: bigint) => boolean
  readonly after: bigint
  readonly through: bigint
  /** Most events on the page. */
  readonly limit?: number
  /** Most bytes of documents on the page, unless the first is larger. */
  readonly bytes?: number
}

export interface MissedEvent {
  readonly position: bigint
  readonly payload: string
}

export interface Page {
  readonly events: readonly MissedEvent[]
  /** Everything up to this position was looked at: a page that is full ends with its last event. */
  readonly through: bigint
  /** Something that is wanted may follow up to the end that was asked for. */
  readonly hasMore: boolean
}

/** Entries that were to be read have left the log because of their age. */
export class SweptError extends Error {
  override readonly name = 'SweptError'
}

/**
 * Reads what clients have missed, in pages. An organization reads one page at a time and the instance a few, so that
 * however many clients resume at once, the database serves live events first.
 */
export class LogReader {
  readonly #db: Queryable
  readonly #organizations = new KeyedMutex({ timeoutMs: TURN_MS })
  readonly #slots = new Semaphore(CONCURRENCY)
  readonly #rooms = new Map<string, { readonly pages: Semaphore; users: number }>()

  constructor(db: Queryable) {
    this.#db = db
  }

  /** The positions between which the log is complete: after `through`, up to `last`. */
  extent(): ReturnType<typeof extentOf> {
    return extentOf(this.#db)
  }

  /**
   * Waits until an organization may have one more page in memory. To be called before a page is read. @returns the
   * function that gives the room back, once the readers of the page have taken it.
   */
  async enter(readers: 'streams' | 'polls', organizationId: string): Promise<() => void> {
    const key = `${readers} ${organizationId}`
    const room = this.#rooms.get(key) ?? { pages: new Semaphore(PAGES_IN_HAND), users: 0 }
    this.#rooms.set(key, room)
    room.users++
    const free = await room.pages.take()
    pagesInHand.inc()
    return () => {
      pagesInHand.dec()
      free()
      room.users--
      if (room.users === 0) this.#rooms.delete(key)
    }
  }

  /** The next page. @throws SweptError when events after `after` may be missing. */
  page(wanted: Wanted): Promise<Page> {
    return this.#organizations.run(wanted.organizationId, async () => {
      const free = await this.#slots.take()
      try {
        return await this.#read(wanted)
      } finally {
        free()
      }
    })
  }

  async #read(wanted: Wanted): Promise<Page> {
    const { organizationId, scopes, after } = wanted
    const heads = await headsAfter(this.#db, { organizationId, ...idsOf(scopes) }, wanted, PAGE_EVENTS)
    const { chosen, ...reached } = choose(wanted, heads.events, heads.through)
    const documents = chosen.length === 0 ? [] : await documentsAt(this.#db, chosen)
    // Read last: what had not been swept by now was there when it was read.
    if ((await this.extent()).through > after) throw new SweptError('events were swept before they were read')
    return { events: documents.map(({ position, payload }) => ({ position: BigInt(position), payload })), ...reached }
  }
}

/** Those that are wanted and fit on the page, and how far the page reaches. */
function choose(
  { matches, through: end, limit = PAGE_EVENTS, bytes: room = PAGE_BYTES }: Wanted,
  heads: readonly EventHead[],
  lookedThrough: bigint,
): { chosen: string[] } & Pick<Page, 'through' | 'hasMore'> {
  const chosen: string[] = []
  let size = 0
  let last = 0n
  for (const head of heads) {
    const position = BigInt(head.position)
    if (!matches(streamEventOf(head), position)) continue
    const isFull = chosen.length >= limit || (chosen.length > 0 && size + head.bytes > room)
    if (isFull) return { chosen, through: last, hasMore: true }
    chosen.push(head.position)
    size += head.bytes
    last = position
  }
  return { chosen, through: chosen.length >= limit ? last : lookedThrough, hasMore: lookedThrough < end }
}
