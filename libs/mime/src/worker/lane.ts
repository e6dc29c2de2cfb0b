import { Worker } from 'node:worker_threads'
import { ParserCrashedError, ParserUnavailableError } from './errors.ts'
import type { LargeTurn } from './large-turn.ts'
import type { ThreadAnswer, ThreadRequest } from './protocol.ts'
import { SmallestFirstQueue } from './smallest-first-queue.ts'

/** How a lane reads: `Sent` is what a thread answers, and `Read` what the caller gets. */
export interface LaneOptions<Limits, Sent, Read> {
  /** What the threads run: a file that calls `serve`. */
  readonly file: URL
  readonly received: (sent: Sent) => Read
  /** Mails that are read concurrently. */
  readonly threads: number
  /** One thread is always kept ready; otherwise the first one starts with the first mail. */
  readonly standing: boolean
  /** Heap of one thread; a thread that needs more dies. */
  readonly memoryMb: number
  /** Memory of one thread outside its heap, for what can be inflated there. Unbounded by default. */
  readonly outsideMb?: number
  /** The turn that its large mails wait for. By default they wait for none. */
  readonly largeTurn?: LargeTurn
  /** A thread that idles this long ends, unless it is the one kept ready. */
  readonly idleMs: number
  readonly limits: Limits
  /** Processor time for a mail of this many bytes, in milliseconds. It may take four times as long. */
  readonly deadlineMs: (bytes: number) => number
  /** The error for a mail that takes longer. */
  readonly overdue: (deadlineMs: number) => Error
}

interface Task<Read> {
  readonly raw: Uint8Array
  readonly since: number
  readonly resolve: (read: Read) => void
  readonly reject: (error: Error) => void
}

interface Thread<Read> {
  readonly worker: Worker
  ready: boolean
  task: Task<Read> | undefined
  /** Processor time of the thread, in milliseconds, when it finished its last mail. */
  cpuMs: number
  /** Ends the thread: when its mail takes too long, or when no mail arrives. */
  timer: NodeJS.Timeout | undefined
}

/** The time that a mail has. */
interface Limit<Read> {
  readonly task: Task<Read>
  readonly deadlineMs: number
  /** On the monotonic clock. */
  readonly until: number
}

/**
 * Memory for young objects, by default a matter of the process. Node lets a thread exceed its heap by 16 MB in order to
 * end it; a collection that moves more than that into the old heap at once would end the whole process.
 */
const YOUNG_MEMORY_MB = 24
const MEGABYTE = 1024 * 1024
/** A heap does not shrink while its thread idles, so a thread whose heap a mail made this large is replaced. */
const LARGE_HEAP = 48 * MEGABYTE
/**
 * How many times its processor time a mail may take. A process that shares its processors is slow without any fault of
 * the mail; a thread that uses no processor time at all is stuck.
 */
const MOST_ELAPSED = 4
/** A thread that does not tell its processor time for this long is stuck. */
const SILENT_MS = 2_000
/** How often the memory outside the heap is looked at. A thread fills some 20 MB in this time. */
const OUTSIDE_EVERY_MS = 100
/** A mail that has waited this long is no longer overtaken by every smaller one. */
const MAX_WAIT_MS = 1_000

/** Threads that share one queue of mails and one deadline. A thread that dies or exceeds the deadline is replaced. */
export class Lane<Limits, Sent, Read> {
  readonly #options: LaneOptions<Limits, Sent, Read>
  readonly #threads = new Set<Thread<Read>>()
  readonly #queue = new SmallestFirstQueue<Task<Read>>(MAX_WAIT_MS)
  #closed = false

  constructor(options: LaneOptions<Limits, Sent, Read>) {
    this.#options = options
    options.largeTurn?.onFree(() => this.#next())
    if (options.standing) this.#startMissing()
  }

  /** Mails that wait for a thread. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Current number of threads. */
  get threads(): number {
    return this.#threads.size
  }

  /** Whether a thread is waiting for a mail, or will be in a moment. */
  get isIdle(): boolean {
    return this.#queue.length === 0 && [...this.#threads].some(({ task }) => task === undefined)
  }

  /** @throws ParserCrashedError, ParserUnavailableError, and the error that `overdue` makes */
  read(raw: Uint8Array): Promise<Read> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(closedPool())
        return
      }
      this.#queue.add({ raw, since: performance.now(), resolve, reject })
      this.#next()
    })
  }

  /** Ends all threads; mails still being read are rejected with ParserUnavailableError. */
  async close(): Promise<void> {
    this.#closed = true
    const running = [...this.#threads]
    for (const task of this.#queue.takeAll()) task.reject(closedPool())
    for (const thread of running) this.#replace(thread, closedPool())
    await Promise.all(running.map(({ worker }) => worker.terminate()))
  }

  #start(): void {
    const { file, memoryMb, received } = this.#options
    const worker = new Worker(file, {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MEMORY_MB },
      env: threadEnvironment(),
      execArgv: [],
      stdout: true,
      stderr: true,
    })
    // What a library prints about a mail may quote it, and is no log.
    worker.stdout.resume()
    worker.stderr.resume()
    const thread: Thread<Read> = { worker, ready: false, task: undefined, cpuMs: 0, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (answer: ThreadAnswer<Sent>) => {
      const task = this.#release(thread)
      thread.cpuMs = answer.cpuMs
      if (answer.read === undefined) thread.ready = true
      else task?.resolve(received(answer.read))
      if (answer.heap > LARGE_HEAP) this.#discard(thread)
      if (task) this.#options.largeTurn?.leave(task.raw.length)
      this.#next()
    })
    worker.on('error', (error) => this.#replace(thread, new ParserCrashedError(error)))
    worker.on('exit', (code) => this.#replace(thread, new ParserCrashedError(new Error(`exit code ${code}`))))
  }

  /** As many threads as there are mails, up to the configured number. */
  #startMissing(): void {
    const { threads, standing } = this.#options
    const busy = [...this.#threads].filter(({ task }) => task !== undefined).length
    const wanted = Math.min(threads, Math.max(standing ? 1 : 0, busy + this.#queue.length))
    while (this.#threads.size < wanted) this.#start()
  }

  /** Lets a thread wait for its next mail. @returns the task it was busy with. */
  #release(thread: Thread<Read>): Task<Read> | undefined {
    const { task } = thread
    clearTimeout(thread.timer)
    thread.task = undefined
    thread.timer = setTimeout(() => {
      if (!this.#options.standing || this.#threads.size > 1) this.#discard(thread)
    }, this.#options.idleMs)
    return task
  }

  #discard(thread: Thread<Read>): boolean {
    const known = this.#threads.delete(thread)
    clearTimeout(thread.timer)
    if (known) void thread.worker.terminate()
    return known
  }

  #replace(thread: Thread<Read>, reason: Error): void {
    if (!this.#discard(thread)) return
    thread.task?.reject(reason)
    if (thread.task) this.#options.largeTurn?.leave(thread.task.raw.length)
    if (this.#closed) return
    if (thread.ready) {
      this.#startMissing()
      return
    }
    // A thread that cannot even start would be restarted forever: waiting mails are rejected, and the next mail tries
    // again.
    for (const task of this.#queue.takeAll()) task.reject(new ParserUnavailableError(reason))
  }

  #next(): void {
    if (this.#closed) return
    const { largeTurn } = this.#options
    for (const thread of this.#threads) {
      if (!thread.ready || thread.task !== undefined) continue
      const task = this.#queue.next(largeTurn?.mostBytes)
      if (task === undefined) break
      largeTurn?.take(task.raw.length)
      clearTimeout(thread.timer)
      thread.task = task
      // An exact copy: cloning a view would copy its whole underlying buffer.
      const raw = new Uint8Array(task.raw)
      const request: ThreadRequest<Limits> = { raw, limits: this.#options.limits }
      const deadlineMs = this.#options.deadlineMs(raw.length)
      thread.worker.postMessage(request, [raw.buffer])
      this.#watch(thread, { task, deadlineMs, until: performance.now() + MOST_ELAPSED * deadlineMs }, deadlineMs)
    }
    this.#startMissing()
  }

  /** Looks after `waitMs`, or sooner, whether the mail has used up its time or memory, and again after what is left. */
  #watch(thread: Thread<Read>, limit: Limit<Read>, waitMs: number): void {
    const { outsideMb = Number.POSITIVE_INFINITY, overdue } = this.#options
    const isBounded = outsideMb < Number.POSITIVE_INFINITY
    thread.timer = setTimeout(
      async () => {
        const [usedMs, outside] = await Promise.all([cpuSince(thread), isBounded ? bytesOutside(thread) : 0])
        if (thread.task !== limit.task) return
        const leftMs = limit.deadlineMs - usedMs
        if (leftMs < 1 || performance.now() >= limit.until) this.#replace(thread, overdue(limit.deadlineMs))
        else if (outside > outsideMb * MEGABYTE) {
          this.#replace(
            thread,
            new ParserCrashedError(new Error(`${Math.round(outside / MEGABYTE)} MB outside its heap`)),
          )
        } else this.#watch(thread, limit, Math.min(leftMs, limit.until - performance.now()))
      },
      isBounded ? Math.min(waitMs, OUTSIDE_EVERY_MS) : waitMs,
    )
  }
}

/**
 * Processor time of a thread since its last mail, in milliseconds; infinite for a thread that does not answer. Also a
 * thread that never pauses can be asked.
 */
function cpuSince<Read>({ worker, cpuMs }: Thread<Read>): Promise<number> {
  return unlessSilent(worker.cpuUsage().then(({ user, system }) => (user + system) / 1_000 - cpuMs))
}

/** Bytes of buffers, which no limit of the heap counts; infinite for a thread that does not answer. */
function bytesOutside<Read>({ worker }: Thread<Read>): Promise<number> {
  return unlessSilent(worker.getHeapStatistics().then(({ external_memory }) => external_memory))
}

async function unlessSilent(asked: Promise<number>): Promise<number> {
  const silent = Promise.withResolvers<number>()
  const timer = setTimeout(() => silent.resolve(Number.POSITIVE_INFINITY), SILENT_MS)
  try {
    return await Promise.race([asked.catch(() => Number.POSITIVE_INFINITY), silent.promise])
  } finally {
    clearTimeout(timer)
  }
}

function closedPool(): ParserUnavailableError {
  return new ParserUnavailableError(new Error('The parser pool is closed'))
}

/**
 * Neither preloads (telemetry) nor settings of the main thread apply to a parser, except where compiled modules are.
 */
function threadEnvironment(): Record<string, string> {
  const compiled = process.env['NODE_COMPILE_CACHE']
  return compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }
}
