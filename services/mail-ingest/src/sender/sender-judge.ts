import { Worker } from 'node:worker_threads'
import { LIMITS } from '@restante/contracts/vocabulary'
import { UpstreamError } from '@restante/service/errors'
import type { Component } from '@restante/service/process'
import type { DnsCache } from './dns/dns-cache.ts'
import type { FromThread, Judgement, MailToJudge, ToThread } from './judgement/protocol.ts'

export interface SenderJudgeOptions {
  readonly dns: DnsCache
  /** Processor time for one mail, in milliseconds. */
  readonly cpuMs?: number
  /** Time for one piece of a mail, in milliseconds: only an endless loop takes this long. */
  readonly pieceMs?: number
  /** The thread ends after idling this long. */
  readonly idleMs?: number
}

/** The mail exceeded its processor time, or killed the thread: its sender cannot be authenticated. */
export class UnjudgeableMailError extends Error {
  override readonly name = 'UnjudgeableMailError'
}

interface Task {
  readonly id: number
  readonly mail: MailToJudge
  readonly body: Buffer
  readonly resolve: (judgement: Judgement) => void
  readonly reject: (error: Error) => void
  /**
   * How much was sent to the thread: nothing (`new`), the header and the body up to `sent` (`body`), or everything
   * (`sent`).
   */
  state: 'new' | 'body' | 'sent'
  sent: number
  cpuMs: number
  /** How often the thread has died while it had this mail. */
  deaths: number
  timer: NodeJS.Timeout | undefined
}

interface Thread {
  readonly worker: Worker
  ready: boolean
  idle: NodeJS.Timeout | undefined
}

const THREAD_FILE = new URL('./judgement/judge-thread.ts', import.meta.url)
const PIECE = 64 * 1024
const PIECE_MS = 15_000
/** From the end of the body to the verdict: several times the DNS time of all steps. */
const VERDICT_MS = 30_000
const IDLE_MS = 30_000
const MEMORY_MB = 128
/**
 * Deaths of the thread after which a mail is given up. One is not enough, because it may affect mails that have not
 * caused it.
 */
const DEATHS = 3

/**
 * Authenticates senders in a thread of their own, where a hostile mail can take only a limited processor time. The
 * thread starts with the first mail, processes mails piece by piece in rotation, and is replaced when one of them kills
 * it. The main thread answers its DNS queries from a cache.
 */
export class SenderJudge implements Component {
  readonly name = 'sender judge'
  readonly #options: Required<SenderJudgeOptions>
  readonly #tasks = new Map<number, Task>()
  /** Tasks with data for the thread, in rotation. */
  readonly #runnable: Task[] = []
  #thread: Thread | undefined
  /** The task whose message the thread is processing. */
  #current: Task | undefined
  #lastId = 0
  #stopped = false

  constructor(options: SenderJudgeOptions) {
    const cpuMs = LIMITS.inbound.senderAuthenticationCpu
    this.#options = { cpuMs, pieceMs: PIECE_MS, idleMs: IDLE_MS, ...options }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const task of [...this.#tasks.values()]) this.#reject(task, unavailable('the process is stopping'))
    await this.#endThread()
  }

  /** Whether the thread exists now. */
  get running(): boolean {
    return this.#thread !== undefined
  }

  /**
   * Authenticates one mail. Its body is copied piece by piece.
   * @throws UnjudgeableMailError; UpstreamError when no mail can be authenticated now.
   */
  judge(mail: MailToJudge, body: Buffer): Promise<Judgement> {
    if (this.#stopped) throw unavailable('the process is stopping')
    const { promise, resolve, reject } = Promise.withResolvers<Judgement>()
    const id = ++this.#lastId
    const state = { state: 'new' as const, sent: 0, cpuMs: 0, deaths: 0, timer: undefined }
    const task: Task = { id, mail, body, resolve, reject, ...state }
    this.#tasks.set(id, task)
    this.#runnable.push(task)
    this.#next()
    return promise
  }

  #next(): void {
    this.#thread ??= this.#start()
    const thread = this.#thread
    clearTimeout(thread.idle)
    if (this.#tasks.size === 0) {
      thread.idle = setTimeout(() => void this.#endThread(), this.#options.idleMs)
      return
    }
    if (!thread.ready || this.#current) return
    const task = this.#runnable.shift()
    if (!task) return
    this.#current = task
    this.#watch(task, this.#options.pieceMs)
    this.#sendTo(thread, task)
  }

  #sendTo({ worker }: Thread, task: Task): void {
    const { id, mail, body } = task
    if (task.state === 'new') {
      task.state = mail.signed ? 'body' : 'sent'
      worker.postMessage({ kind: 'judge', id, mail } satisfies ToThread)
      return
    }
    // A copy of exactly these bytes, which the thread then owns.
    const piece = new Uint8Array(body.subarray(task.sent, task.sent + PIECE))
    task.sent += piece.length
    const last = task.sent >= body.length
    if (last) task.state = 'sent'
    worker.postMessage({ kind: 'body', id, piece, last } satisfies ToThread, [piece.buffer])
  }

  #receive(thread: Thread, message: FromThread): void {
    if (thread !== this.#thread) return
    if (message.kind === 'ready') {
      thread.ready = true
      this.#next()
      return
    }
    const task = this.#tasks.get(message.id)
    switch (message.kind) {
      case 'done':
        if (this.#current?.id === message.id) this.#current = undefined
        if (task) this.#worked(task, message)
        this.#next()
        return
      case 'ask':
        void this.#options.dns.ask(message.asked).then((answer) => {
          const { id, question } = message
          thread.worker.postMessage({ kind: 'answer', id, question, answer } satisfies ToThread)
        })
        return
      case 'catch up':
        // Input that the network has delivered in the meantime is processed before this.
        setImmediate(() =>
          setImmediate(() => thread.worker.postMessage({ kind: 'caught up', id: message.id } satisfies ToThread)),
        )
        return
      case 'judged':
        if (task) this.#settle(task).resolve(message.judgement)
        this.#next()
        return
      case 'failed':
        if (task) this.#settle(task).reject(new UnjudgeableMailError(message.reason))
        this.#next()
    }
  }

  #worked(task: Task, { cpuMs, tooLongLine }: Extract<FromThread, { kind: 'done' }>): void {
    task.cpuMs += cpuMs
    if (tooLongLine) this.#giveUp(task, 'a line of the body is too long to be hashed')
    else if (task.cpuMs > this.#options.cpuMs) this.#giveUp(task, 'the mail exceeds the processor time for one mail')
    else if (task.state === 'sent') this.#watch(task, VERDICT_MS)
    else {
      clearTimeout(task.timer)
      this.#runnable.push(task)
    }
  }

  #giveUp(task: Task, reason: string): void {
    this.#reject(task, new UnjudgeableMailError(reason))
    this.#thread?.worker.postMessage({ kind: 'forget', id: task.id } satisfies ToThread)
  }

  /** Terminates the thread when the task takes longer than `ms`. */
  #watch(task: Task, ms: number): void {
    clearTimeout(task.timer)
    task.timer = setTimeout(() => {
      this.#reject(task, new UnjudgeableMailError(`the mail blocked its thread for ${ms} ms`))
      this.#replace(new Error('a mail blocked the thread'))
    }, ms)
  }

  #reject(task: Task, error: Error): void {
    this.#settle(task).reject(error)
  }

  #settle(task: Task): Task {
    clearTimeout(task.timer)
    this.#tasks.delete(task.id)
    const position = this.#runnable.indexOf(task)
    if (position >= 0) this.#runnable.splice(position, 1)
    return task
  }

  #start(): Thread {
    const worker = new Worker(THREAD_FILE, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      env: threadEnvironment(),
      execArgv: [],
    })
    const thread: Thread = { worker, ready: false, idle: undefined }
    worker.on('message', (messages: readonly FromThread[]) => {
      for (const message of messages) this.#receive(thread, message)
    })
    const ended = (cause: unknown): void => {
      if (thread === this.#thread) this.#replace(cause)
    }
    worker.on('error', ended)
    worker.on('exit', (code) => ended(new Error(`exit code ${code}`)))
    return thread
  }

  /** Restarts all mails in a new thread, except those whose thread has died too often. */
  #replace(cause: unknown): void {
    const wasReady = this.#thread?.ready === true
    const blamed = this.#current === undefined ? [...this.#tasks.values()] : [this.#current]
    void this.#endThread()
    // A thread that cannot even start would be restarted forever.
    if (!wasReady) for (const task of [...this.#tasks.values()]) this.#reject(task, unavailable(cause))
    for (const task of blamed)
      if (++task.deaths >= DEATHS) this.#reject(task, new UnjudgeableMailError('the thread of the mail died too often'))
    this.#runnable.length = 0
    for (const task of this.#tasks.values()) {
      clearTimeout(task.timer)
      Object.assign(task, { state: 'new', sent: 0, cpuMs: 0 })
      this.#runnable.push(task)
    }
    if (this.#tasks.size > 0) this.#next()
  }

  async #endThread(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    this.#current = undefined
    clearTimeout(thread?.idle)
    await thread?.worker.terminate()
  }
}

function unavailable(cause: unknown): UpstreamError {
  return new UpstreamError('senders cannot be authenticated now', { cause })
}

/**
 * The thread gets neither preloads (telemetry) nor settings of the main thread, except where compiled modules are
 * stored.
 */
function threadEnvironment(): Record<string, string> {
  const compiled = process.env['NODE_COMPILE_CACHE']
  return compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }
}
