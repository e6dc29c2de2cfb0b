import { randomBytes, randomUUID } from 'node:crypto'
import { type Caller, type EventType, maySeeOnStream, subscribedEventTypes } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import { pageSize } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import type { Handlers, OperationRequest } from '@restante/service/http'
import { requireEventTypes } from '@restante/service/identity'
import type { StreamQuota } from '../connections/admission/quota.ts'
import { cursorScope, openCursor, requireInLog } from '../cursors/caller-cursors.ts'
import type { Place, StreamCursors } from '../cursors/stream-cursors.ts'
import type { TakeOvers } from '../log/take-overs.ts'
import { type LogReader, type MissedEvent, type Page, SweptError } from '../replay/reader.ts'
import { reachOf } from '../subscriptions/reach.ts'
import { keyOf, reaches, type StreamEvent } from '../subscriptions/subscriptions.ts'
import type { Polls } from './polls.ts'
import type { WaitingPoll } from './waiting.ts'

export interface PollOptions {
  readonly reader: LogReader
  readonly cursors: StreamCursors
  readonly polls: Polls
  readonly quota: StreamQuota
  readonly takeOvers: TakeOvers
  /** The position up to which this instance has delivered live events. */
  readonly position: () => bigint
  /** Open streams of an organization on this instance, which count for the same quota. */
  readonly streamCount: (organizationId: string) => number
}

type PollRequest = OperationRequest<'stream.poll'>
type PollAnswer = ResponseOf<'stream.poll'>

/** Seconds after which a poll beyond the quota may be repeated. */
const RETRY_AFTER = 5
const READER_BYTES = 6
/**
 * Pages that one poll reads, and how long it may take for them, in milliseconds: where few of many events are wanted, or
 * many others read, it ends before the edge gives it up, and its cursor keeps what was looked through.
 */
const MOST_PAGES = 20
const READING_MS = 5_000

/** Polling for events: what a stream gives, for programs without a WebSocket. */
export function pollRoutes(options: PollOptions): Handlers<'websocket-fanout'> {
  return { 'stream.poll': (request) => poll(options, request) }
}

async function poll(options: PollOptions, request: PollRequest): Promise<PollAnswer> {
  const { cursors, reader, takeOvers, position } = options
  const { caller, query } = request
  requireEventTypes(caller.credential, query.event_types ?? [], 'stream')
  if (takeOvers.isSuperseded(caller)) throw new ApiError('unknown_api_key')
  if (query.cursor === undefined) {
    return { events: [], cursor: cursors.seal(cursorScope(caller), inChain({ position: position() })) }
  }
  const place = openCursor(cursors, caller, query.cursor, 'cursor')
  requireInLog(place, await reader.extent(), 'cursor')
  return withinQuota(options, caller, () => waitFor(options, request, query.cursor ?? '', inChain(place)))
}

/** Each client that begins gets cursors of its own, so that two that have read equally far are told apart. */
function inChain(place: Place): Place {
  return { reader: randomBytes(READER_BYTES).toString('base64url'), ...place }
}

/** A poll counts as a stream for as long as it lasts. @throws ApiError 429 */
async function withinQuota<T>(
  { quota, polls, streamCount }: PollOptions,
  { organization_id: id }: Caller,
  work: () => Promise<T>,
): Promise<T> {
  const lease = randomUUID()
  if (!(await quota.acquire(id, lease, streamCount(id) + polls.count(id)))) {
    throw new ApiError('rate_limit_exceeded', {
      message: `An organization can have at most ${LIMITS.stream.connectionsPerOrganization} streams and polls`,
      retryAfter: RETRY_AFTER,
    })
  }
  try {
    return await work()
  } finally {
    await quota.release(lease)
  }
}

async function waitFor(options: PollOptions, request: PollRequest, given: string, place: Place): Promise<PollAnswer> {
  const { caller, requestId, signal, query } = request
  const matches = (event: StreamEvent) => isWanted(caller, query.event_types, event)
  const waiting = options.polls.add({ caller, requestId, matches, key: `${caller.credential.id} ${given}` })
  const leave = () => waiting.finish()
  signal.addEventListener('abort', leave)
  // A signal that was aborted before does not report it.
  if (signal.aborted) leave()
  try {
    return await untilEvents(options, request, waiting, place)
  } catch (error) {
    // A request that took so long that events were swept under it: the cursor is too old by now.
    if (error instanceof SweptError) requireInLog(place, await options.reader.extent(), 'cursor')
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
    options.polls.remove(waiting)
  }
}

async function untilEvents(
  options: PollOptions,
  request: PollRequest,
  waiting: WaitingPoll,
  place: Place,
): Promise<PollAnswer> {
  const { position, cursors, takeOvers } = options
  const { wait = LIMITS.stream.pollWait } = request.query
  const deadline = performance.now() + wait * 1_000
  for (let after = place.position; ; ) {
    const isLast = waiting.isOver || performance.now() >= deadline
    // The rights as they are now: a poll may have waited for half a minute.
    const caller = await request.confirmCaller()
    requireEventTypes(caller.credential, request.query.event_types ?? [], 'stream')
    const target = position()
    const found = await collect(options.reader, request, caller, { after, through: target })
    after = found.through
    waiting.check()
    // What this instance has read of the log up to `target` includes every take-over before it.
    if (takeOvers.isSuperseded(caller)) throw new ApiError('unknown_api_key')
    if (found.events.length > 0 || found.hasMore || isLast) {
      const cursor = cursors.seal(cursorScope(caller), { ...place, position: after })
      const events = found.events.map(({ payload }) => JSON.parse(payload))
      return { events, cursor, ...(found.hasMore && { has_more: true as const }) }
    }
    await waiting.wait(deadline - performance.now())
  }
}

/** Events of a range, until they fill an answer or enough of the log was looked through. */
async function collect(
  reader: LogReader,
  { over, query }: Pick<PollRequest, 'over' | 'query'>,
  caller: Caller,
  range: { readonly after: bigint; readonly through: bigint },
): Promise<Page> {
  // An answer is in memory until its client has taken it.
  const leave = await reader.enter('polls', caller.organization_id)
  let held = false
  try {
    const found = await read(reader, caller, query, range)
    held = found.events.length > 0
    if (held) void over.then(leave)
    return found
  } finally {
    if (!held) leave()
  }
}

async function read(
  reader: LogReader,
  caller: Caller,
  { limit, event_types: types }: PollRequest['query'],
  { after: start, through }: { readonly after: bigint; readonly through: bigint },
): Promise<Page> {
  const most = pageSize(limit)
  const events: MissedEvent[] = []
  const matches = (event: StreamEvent) => isWanted(caller, types, event)
  const scopes = reachOf(caller, [keyOf({ kind: 'all' })])
  const wanted = { organizationId: caller.organization_id, scopes, matches, through }
  let after = start
  let hasMore = after < through
  let room: number = LIMITS.stream.pollBytes
  const until = performance.now() + READING_MS
  for (let pages = 0; hasMore && events.length < most && room > 0; pages++) {
    if (pages === MOST_PAGES || (pages > 0 && performance.now() >= until)) break
    const page = await reader.page({ ...wanted, after, limit: most - events.length, bytes: room })
    events.push(...page.events)
    for (const { payload } of page.events) room -= Buffer.byteLength(payload)
    after = page.through
    hasMore = page.hasMore
  }
  return { events, through: after, hasMore }
}

function isWanted(caller: Caller, types: readonly EventType[] | undefined, event: StreamEvent): boolean {
  return (
    reaches(caller, event) &&
    subscribedEventTypes(types).includes(event.type) &&
    maySeeOnStream(caller.credential, event)
  )
}
