import { Worker } from 'node:worker_threads'
import { withDefaults } from '../parse/default-limits.ts'
import type { ParseLimits } from '../parse/limits.ts'
import { type ParserRequest, READY } from './protocol.ts'
import type { ReadMail } from './read-mail.ts'

export interface ParserPoolOptions {
  /** How many mails are parsed at the same time. */
  readonly threads: number
  /** Heap of one thread; a thread that needs more dies. Default 256. */
  readonly memoryMb?: number
  /** Time for one mail, counted from when its thread begins. Default 5000. */
  readonly timeoutMs?: number
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

/** Parser threads that one mail may kill without harm to the process or to other mails. */
export interface ParserPool {
  /**
   * Reads a mail in a thread. The bytes are copied once; the caller's buffer stays its own.
   * @throws ParserDied, ParserTimedOut
   */
  read(raw: Uint8Array): Promise<ReadMail>
  /** Mails that wait for a thread. */
  readonly waiting: number
  /** Ends all threads; mails still being read are rejected with ParserDied. */
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
  timer: NodeJS.Timeout | undefined
}

const THREAD_FILE = new URL('./thread.ts', import.meta.url)

/** Starts the threads at once, so that the first mail does not wait for them. They hold the process until `close`. */
export function createParserPool(options: ParserPoolOptions): ParserPool {
  const { memoryMb = 256, timeoutMs = 5_000 } = options
  const limits = withDefaults(options.limits)
  const threads = new Set<Thread>()
  const queue: Task[] = []
  let closed = false

  const start = (): void => {
    // No preloads of the main thread (telemetry), and none of its environment: a parser needs neither.
    const resourceLimits = { maxOldGenerationSizeMb: memoryMb }
    const worker = new Worker(THREAD_FILE, { resourceLimits, env: {}, execArgv: [] })
    const thread: Thread = { worker, ready: false, task: undefined, timer: undefined }
    threads.add(thread)
    worker.on('message', (message: ReadMail | typeof READY) => {
      if (message === READY) thread.ready = true
      else finish(thread)?.resolve(message)
      next()
    })
    worker.on('error', (error) => replace(thread, new ParserDied(error)))
    worker.on('exit', (code) => replace(thread, new ParserDied(new Error(`exit code ${code}`))))
  }
  const startMissing = (): void => {
    while (threads.size < options.threads) start()
  }
  const finish = (thread: Thread): Task | undefined => {
    const { task } = thread
    clearTimeout(thread.timer)
    thread.task = undefined
    return task
  }
  const replace = (thread: Thread, reason: Error): void => {
    if (!threads.delete(thread)) return
    finish(thread)?.reject(reason)
    void thread.worker.terminate()
    if (closed) return
    if (thread.ready) {
      startMissing()
      return
    }
    // A thread that cannot even start would be started for ever: those who wait learn of it, the next mail tries again.
    for (const task of queue.splice(0)) task.reject(reason)
  }
  const next = (): void => {
    for (const thread of threads) {
      if (!thread.ready || thread.task !== undefined) continue
      const task = queue.shift()
      if (task === undefined) return
      thread.task = task
      // An exact copy: cloning a view would take along whatever else its buffer holds.
      const raw = new Uint8Array(task.raw)
      const request: ParserRequest = { raw, limits }
      thread.worker.postMessage(request, [raw.buffer])
      thread.timer = setTimeout(() => replace(thread, new ParserTimedOut(timeoutMs)), timeoutMs)
    }
  }

  startMissing()
  return {
    read: (raw) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(new ParserDied(new Error('The parser pool is closed')))
          return
        }
        queue.push({ raw, resolve, reject })
        startMissing()
        next()
      }),
    get waiting() {
      return queue.length
    },
    async close() {
      closed = true
      const running = [...threads]
      for (const task of queue.splice(0)) task.reject(new ParserDied(new Error('The parser pool is closed')))
      for (const thread of running) replace(thread, new ParserDied(new Error('The parser pool is closed')))
      await Promise.all(running.map(({ worker }) => worker.terminate()))
    },
  }
}
