import type { EventType } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import { LIMITS, TOOL_LIMITS } from '@restante/contracts/vocabulary'
import { UpstreamError } from '@restante/service/errors'
import { Gauge } from 'prom-client'
import { z } from 'zod'
import { quoted } from '../../answers/answer.ts'
import type { Api } from '../../api/api.ts'
import { ApiFailure, InterruptedWaitError, isRefusal } from '../../api/failure.ts'
import type { BodyReader } from '../../untrusted/index.ts'
import { DATA_NOTICE, inboxId, included, maxChars } from '../definition/inputs.ts'
import { waited } from '../definition/outputs.ts'
import { type Context, defineTool } from '../definition/tool.ts'
import { withBody } from './bodies.ts'
import { type IncludeFlags, isLeftOut } from './visibility.ts'

/** Events that one request looks through, where not every message is wanted. */
const BATCH = 20
/** How long a wait looks through what has come already, in milliseconds, even if it waits for less. */
const SEARCH_MS = 10_000
/** A poll that ends so much earlier than it was asked to was ended by a shutdown, in milliseconds. */
const EARLY_MS = 1_000

const waitingCalls = new Gauge({
  name: 'restante_tool_calls_waiting',
  help: 'Calls of wait_for_message that wait in this instance',
})

export const waitForMessage = defineTool({
  name: 'wait_for_message',
  title: 'Wait For Message',
  description: `Wait for the next message that an inbox receives, for example the answer to one that you sent. Returns it, or no message when the time is over. Give the cursor of the answer as after in the next call: then no message is missed and none comes twice. Without it, waiting begins now. ${DATA_NOTICE}`,
  kind: 'reads',
  openWorld: true,
  input: z.object({
    inboxId,
    after: z.string().optional().describe('cursor of the answer before'),
    waitSeconds: z
      .int()
      .min(0)
      .max(TOOL_LIMITS.wait.max)
      .default(TOOL_LIMITS.wait.default)
      .describe('How long to wait at most'),
    threadId: z.string().optional().describe('Only messages of this thread'),
    from: z.string().optional().describe('Only messages whose sender contains this'),
    maxChars,
    includeSpam: included.includeSpam,
    includeBlocked: included.includeBlocked,
    includeUnauthenticated: included.includeUnauthenticated,
  }),
  output: waited,
  needs: ['stream.poll', 'messages.get'],
  run: async (context, { inboxId: inbox, after, waitSeconds, threadId, from, maxChars: most, ...flags }) => {
    const deadline = performance.now() + waitSeconds * 1_000
    const wait = new Wait(context, { inbox, threadId, from, maxChars: most, flags, deadline })
    waitingCalls.inc()
    const { message, cursor, isUnfinished } = await wait.from(after).finally(() => waitingCalls.dec())
    const next = `To wait for the next message, call again with after ${JSON.stringify(cursor)}.`
    if (message === undefined) {
      const text = isUnfinished ? UNFINISHED : 'Nothing yet.'
      return { structured: { messages: [], cursor }, text: `${text} ${next}` }
    }
    return quoted('A message has come:', { messages: [message], cursor }, [next])
  },
})

const UNFINISHED = 'Nothing among the messages so far, but not all that have come are looked through yet.'

interface Found {
  /** As a model reads it. */
  readonly message?: Record<string, unknown>
  /** The place up to which the log is looked through. */
  readonly cursor: string
  /** Whether the time was over before its end. */
  readonly isUnfinished?: true
}

interface Wanted {
  readonly inbox: string
  readonly threadId: string | undefined
  readonly from: string | undefined
  readonly maxChars: number
  readonly flags: IncludeFlags
  /** By the clock of `performance`. */
  readonly deadline: number
}

/** What every event of a received message tells of it. */
const received = z.object({
  message: z.object({ message_id: z.string(), thread_id: z.string(), from: z.string() }),
})

type Message = ResponseOf<'messages.get'>
type Poll = ResponseOf<'stream.poll'>
type PolledEvent = Poll['events'][number]

/** One wait for a message, on the log of events, which is also read where no one waits (events 6). */
class Wait {
  readonly #api: Api
  readonly #reader: BodyReader
  readonly #stopping: AbortSignal
  readonly #wanted: Wanted
  readonly #types: readonly EventType[]

  constructor({ api, reader, stopping }: Context, wanted: Wanted) {
    this.#api = api
    this.#reader = reader
    this.#stopping = stopping
    this.#wanted = wanted
    this.#types = typesFor(wanted.flags)
  }

  /**
   * The first message after a cursor, and the cursor after it; without one the message that comes next.
   * @throws InterruptedWaitError with the place reached, when a repetition may succeed: without it, a caller that gave no
   * cursor would start again from now, and miss the messages since its first call.
   */
  async from(given: string | undefined): Promise<Found> {
    const place = { cursor: given ?? (await this.#poll({})).cursor }
    try {
      return await this.#search(place)
    } catch (error) {
      throw isRefusal(error) ? error : new InterruptedWaitError(place.cursor, error)
    }
  }

  /** @param place moves on with the search, only past what is looked through or given to the caller. */
  async #search(place: { cursor: string }): Promise<Found> {
    const searchUntil = Math.max(this.#wanted.deadline, performance.now() + SEARCH_MS)
    for (;;) {
      const { cursor } = place
      const asked = this.#remainingSeconds()
      const began = performance.now()
      const batch = await this.#batchAfter(cursor, asked)
      // Nothing is lost: what comes after the cursor is left to the next call, which another instance answers.
      if (batch === undefined) return { cursor }
      const event = batch.events.find((each) => this.#isWanted(each))
      if (event !== undefined) {
        const after = await this.#cursorAfter(cursor, batch, event)
        // It has left the log in the meantime, so it is not found again.
        if (after === undefined) continue
        const message = await this.#shown(event)
        place.cursor = after
        if (message !== undefined) return { message, cursor: after }
        // Whether there are more is not known.
        if (performance.now() >= searchUntil) return { cursor: after, isUnfinished: true }
        continue
      }
      place.cursor = batch.cursor
      if (batch.has_more && performance.now() < searchUntil) continue
      if (batch.has_more) return { cursor: batch.cursor, isUnfinished: true }
      const wasEnded = performance.now() - began < asked * 1_000 - EARLY_MS
      if (this.#remainingSeconds() === 0 || (wasEnded && batch.events.length === 0)) return { cursor: batch.cursor }
    }
  }

  /** The next events, as soon as there are any; undefined: this instance shuts down. */
  async #batchAfter(cursor: string, wait: number): Promise<Poll | undefined> {
    if (this.#stopping.aborted) return undefined
    try {
      return await this.#poll({ cursor, wait, limit: this.#isFiltered ? BATCH : 1 }, this.#stopping)
    } catch (error) {
      if (this.#stopping.aborted && error instanceof UpstreamError) return undefined
      throw error
    }
  }

  get #isFiltered(): boolean {
    return this.#wanted.threadId !== undefined || this.#wanted.from !== undefined
  }

  /** The place after one event of a batch: what follows it is left to the next call. Undefined: it is deleted. */
  async #cursorAfter(before: string, { events, cursor }: Poll, event: PolledEvent): Promise<string | undefined> {
    const place = events.findIndex(({ event_id }) => event_id === event.event_id)
    if (place < 0) return undefined
    if (place === events.length - 1) return cursor
    // As many events reach further if one before it is deleted now.
    const upTo = await this.#poll({ cursor: before, limit: place + 1, wait: 0 })
    return this.#cursorAfter(before, upTo, event)
  }

  #isWanted(event: PolledEvent): boolean {
    const { threadId, from } = this.#wanted
    const { thread_id, from: sender } = received.parse(event).message
    if (threadId !== undefined && thread_id !== threadId) return false
    return from === undefined || sender.toLowerCase().includes(from.toLowerCase())
  }

  /** The message of an event for the model; undefined if it is deleted or left out. */
  async #shown(event: PolledEvent): Promise<Record<string, unknown> | undefined> {
    const { flags, maxChars: most } = this.#wanted
    const message = await this.#messageOf(event)
    if (message === undefined || isLeftOut(message.labels, flags)) return undefined
    return withBody(this.#reader, message, { maxChars: most })
  }

  /** As it is now; undefined if it is deleted. */
  async #messageOf(event: PolledEvent): Promise<Message | undefined> {
    const params = { message_id: received.parse(event).message.message_id }
    try {
      return await this.#api.call('messages.get', { inboxId: this.#wanted.inbox, params })
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return undefined
      throw error
    }
  }

  /** @param until ends the poll before its time. */
  #poll(
    query: { readonly cursor?: string; readonly limit?: number; readonly wait?: number },
    until?: AbortSignal,
  ): Promise<Poll> {
    return this.#api.call('stream.poll', {
      inboxId: this.#wanted.inbox,
      query: { ...query, event_types: this.#types },
      ...(until && { until }),
    })
  }

  #remainingSeconds(): number {
    const remaining = Math.ceil((this.#wanted.deadline - performance.now()) / 1_000)
    return Math.min(Math.max(remaining, 0), LIMITS.stream.pollWait)
  }
}

function typesFor({ includeSpam, includeBlocked, includeUnauthenticated }: IncludeFlags): EventType[] {
  return [
    'message.received',
    ...(includeSpam ? (['message.received.spam'] as const) : []),
    ...(includeBlocked ? (['message.received.blocked'] as const) : []),
    ...(includeUnauthenticated ? (['message.received.unauthenticated'] as const) : []),
  ]
}
