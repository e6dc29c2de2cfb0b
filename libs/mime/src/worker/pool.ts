import { Worker } from 'node:worker_threads'
import { withDefaults } from '../parse/default-limits.ts'
import type { ParseLimits } from '../parse/limits.ts'
import type { ParserAnswer, ParserRequest } from './protocol.ts'
import type { ReadMail } from './read-mail.ts'

export interface ParserPoolOptions {
  /** How many mails are parsed at the same time. One thread always stands ready, the others only while they are needed. */
  readonly threads: number
  /** Heap of one thread; a thread that needs more dies. Default 256. */
  readonly memoryMb?: number
  /** Time for one mail, counted from when its thread begins. Default 5000. */
  readonly timeoutMs?: number
  /** A thread that had nothing to do for this long ends, unless it is the last. Default 30,000. */
  readonly idleMs?: number
  readonly limits?: Partial<ParseLimits>
}

/** The thread that parsed this mail ended: out of memory, or a failure of the parser. Another took its place. */
export class ParserDied extends Error {
  constructor(cause: unknown) {
    super('The parser thread died while it read a mail', { cause })
    this.name = 'ParserDied'
  }
}

/** The thread that parsed this mail took too long and was stopped. Another took its place. */
export class ParserTimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`The parser thread was stopped after ${timeoutMs} ms on one mail`)
    this.name = 'ParserTimedOut'
  }
}

/** No thread could read this mail: none started, or the pool is closed. That says nothing about the mail. */
export class ParserUnavailable extends Error {
  constructor(cause: unknown) {
    super('There is no parser thread', { cause })
    this.name = 'ParserUnavailable'
  }
}

/** Parser threads that one mail may kill without harm to the process or to other mails. */
export interface ParserPool {
  /**
   * Reads a mail in a thread. The bytes are copied once; the caller's buffer stays its own.
   * @throws ParserDied, ParserTimedOut, ParserUnavailable
   */
  read(raw: Uint8Array): Promise<ReadMail>
  /** Mails that wait for a thread. */
  readonly waiting: number
  /** Threads that there are now. */
  readonly threads: number
  /** Ends all threads; mails still being read are rejected with ParserUnavailable. */
  close(): Promise<void>
}

interface Task {
  readonly raw: Uint8Array
  readonly resolve: (mail: ReadMail) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  ready: boolean
  task: Task | undefined
  /** Ends the thread: when its mail takes too long, or when no mail comes. */
  timer: NodeJS.Timeout | undefined
}

const THREAD_FILE = new URL('./thread.ts', import.meta.url)
const IDLE_MS = 30_000
/** A heap never shrinks by itself while its thread idles, so a thread that a mail made this large gives way to a new one. */
const LARGE_HEAP = 64 * 1024 * 1024

/** Starts the first thread at once, so that the first mail does not wait for it. Threads hold the process until `close`. */
export function createParserPool(options: ParserPoolOptions): ParserPool {
  const { memoryMb = 256, timeoutMs = 5_000, idleMs = IDLE_MS } = options
  const limits = withDefaults(options.limits)
  const threads = new Set<Thread>()
  const queue: Task[] = []
  let closed = false

  const start = (): void => {
    const worker = new Worker(THREAD_FILE, {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      env: threadEnvironment(),
      execArgv: [],
    })
    const thread: Thread = { worker, ready: false, task: undefined, timer: undefined }
    threads.add(thread)
    worker.on('message', (answer: ParserAnswer) => {
      const task = release(thread)
      if (answer.mail === undefined) thread.ready = true
      else task?.resolve(answer.mail)
      if (answer.heap > LARGE_HEAP) discard(thread)
      next()
    })
    worker.on('error', (error) => replace(thread, new ParserDied(error)))
    worker.on('exit', (code) => replace(thread, new ParserDied(new Error(`exit code ${code}`))))
  }
  /** As many threads as there are mails, one at least, and never more than were asked for. */
  const startMissing = (): void => {
    const busy = [...threads].filter(({ task }) => task !== undefined).length
    const wanted = Math.min(options.threads, Math.max(1, busy + queue.length))
    while (threads.size < wanted) start()
  }
  /** Lets a thread wait for its next mail. @returns what it was busy with. */
  const release = (thread: Thread): Task | undefined => {
    const { task } = thread
    clearTimeout(thread.timer)
    thread.task = undefined
    thread.timer = setTimeout(() => {
      if (threads.size > 1) discard(thread)
    }, idleMs)
    return task
  }
  const discard = (thread: Thread): boolean => {
    const known = threads.delete(thread)
    clearTimeout(thread.timer)
    if (known) void thread.worker.terminate()
    return known
  }
  const replace = (thread: Thread, reason: Error): void => {
    if (!discard(thread)) return
    thread.task?.reject(reason)
    if (closed) return
    if (thread.ready) {
      startMissing()
      return
    }
    // A thread that cannot even start would be started for ever: those who wait learn of it, the next mail tries again.
    for (const task of queue.splice(0)) task.reject(new ParserUnavailable(reason))
  }
  const next = (): void => {
    for (const thread of threads) {
      if (!thread.ready || thread.task !== undefined) continue
      const task = queue.shift()
      if (task === undefined) break
      clearTimeout(thread.timer)
      thread.task = task
      // An exact copy: cloning a view would take along whatever else its buffer holds.
      const raw = new Uint8Array(task.raw)
      const request: ParserRequest = { raw, limits }
      thread.worker.postMessage(request, [raw.buffer])
      thread.timer = setTimeout(() => replace(thread, new ParserTimedOut(timeoutMs)), timeoutMs)
    }
    startMissing()
  }

  startMissing()
  return {
    read: (raw) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(closedPool())
          return
        }
        queue.push({ raw, resolve, reject })
        next()
      }),
    get waiting() {
      return queue.length
    },
    get threads() {
      return threads.size
    },
    async close() {
      closed = true
      const running = [...threads]
      for (const task of queue.splice(0)) task.reject(closedPool())
      for (const thread of running) replace(thread, closedPool())
      await Promise.all(running.map(({ worker }) => worker.terminate()))
    },
  }
}

function closedPool(): ParserUnavailable {
  return new ParserUnavailable(new Error('The parser pool is closed'))
}

/** Neither preloads (telemetry) nor settings of the main thread concern a parser, except where compiled modules are. */
function threadEnvironment(): Record<string, string> {
  const compiled = process.env['NODE_COMPILE_CACHE']
  return compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }
}
