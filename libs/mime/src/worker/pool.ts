import { withDefaults } from '../limits/default-limits.ts'
import type { ParseLimits } from '../limits/limits.ts'
import type { ReadMail } from '../read/read-mail.ts'
import { ParserOverdueError, ParserTimeoutError } from './errors.ts'
import { Lane } from './lane.ts'
import { LargeTurn } from './large-turn.ts'
import { fromSent } from './sent-mail.ts'

export interface ParserPoolOptions {
  /** Concurrent first attempts. One thread is kept ready, the others exist only while they are needed. */
  readonly threads: number
  /** Heap of one thread; a thread that needs more dies. Default 256. */
  readonly memoryMb?: number
  /** Processor time for the first attempt at a small mail; a large one gets more (`PER_MEGABYTE_MS`). Default 500. */
  readonly firstMs?: number
  /** Processor time for one mail in the slow lane. Default 5000. */
  readonly timeoutMs?: number
  /** A thread that idles this long ends, unless it is the last of the ordinary ones. Default 30,000. */
  readonly idleMs?: number
  readonly limits?: Partial<ParseLimits>
}

/**
 * Parser threads that one mail may kill without harm to the process or to other mails. The bytes of a mail are copied
 * once; the caller keeps its buffer. Small mails overtake larger ones that wait.
 *
 * There are three lanes. First attempts share the ordinary threads and are short; a mail that exceeds its first attempt
 * is read again from the start in the slow lane, whose one thread no other mail needs. A mail with priority never waits
 * for ordinary threads: it has one of its own while they are busy. Threads of the other lanes start when they are
 * needed. Of large mails, one at a time is read in all lanes together.
 */
export interface ParserPool {
  /**
   * Reads a mail: a first attempt, then the slow lane.
   * @throws ParserCrashedError, ParserTimeoutError, ParserUnavailableError
   */
  read(raw: Uint8Array, options?: { readonly priority?: boolean }): Promise<ReadMail>
  /**
   * Makes only the first attempt, for a caller that has other work before it tries a mail for longer.
   * @throws ParserCrashedError, ParserOverdueError, ParserUnavailableError
   */
  readFirst(raw: Uint8Array): Promise<ReadMail>
  /**
   * Reads a mail whose first attempt was overdue, in the slow lane.
   * @throws ParserCrashedError, ParserTimeoutError, ParserUnavailableError
   */
  readSlowly(raw: Uint8Array): Promise<ReadMail>
  /** Mails that wait for a thread. */
  readonly waiting: number
  /** Current number of threads. */
  readonly threads: number
  /** Ends all threads; mails still being read are rejected with ParserUnavailableError. */
  close(): Promise<void>
}

const FILE = new URL('./thread.ts', import.meta.url)
const MEGABYTE = 1024 * 1024
/** An honest file costs a third of it, on an otherwise idle machine. */
const PER_MEGABYTE_MS = 25

/**
 * Starts the first thread at once, so that the first mail does not wait for it. Threads keep the process alive until
 * `close`.
 */
export function createParserPool(options: ParserPoolOptions): ParserPool {
  const { threads, memoryMb = 256, firstMs = 500, timeoutMs = 5_000, idleMs = 30_000 } = options
  const largeTurn = new LargeTurn()
  const common = { file: FILE, received: fromSent, memoryMb, largeTurn, idleMs, limits: withDefaults(options.limits) }
  const first = {
    ...common,
    deadlineMs: (bytes: number) => Math.min(timeoutMs, firstMs + Math.ceil((bytes / MEGABYTE) * PER_MEGABYTE_MS)),
    overdue: (ms: number) => new ParserOverdueError(ms),
  }
  const ordinary = new Lane({ ...first, threads, standing: true })
  const priority = new Lane({ ...first, threads: 1, standing: false })
  const slow = new Lane({
    ...common,
    threads: 1,
    standing: false,
    deadlineMs: () => timeoutMs,
    overdue: (ms) => new ParserTimeoutError(ms),
  })
  const lanes = [ordinary, priority, slow]
  return {
    async read(raw, { priority: hasPriority = false } = {}) {
      try {
        return await (hasPriority && !ordinary.isIdle ? priority : ordinary).read(raw)
      } catch (error) {
        if (error instanceof ParserOverdueError) return slow.read(raw)
        throw error
      }
    },
    readFirst: (raw) => ordinary.read(raw),
    readSlowly: (raw) => slow.read(raw),
    get waiting() {
      return lanes.reduce((sum, { waiting }) => sum + waiting, 0)
    },
    get threads() {
      return lanes.reduce((sum, lane) => sum + lane.threads, 0)
    },
    async close() {
      await Promise.all(lanes.map((lane) => lane.close()))
    },
  }
}
