import { Lane, ParserTimeoutError } from '@restante/mime/worker'
import type { ReadResult } from './read-file.ts'

/** A thread that reads calendar files, which one of them may kill without harm to the process. */
export interface CalendarReader {
  /**
   * @param bytes of one file; copied.
   * @throws ParserCrashedError, ParserTimeoutError: the file may be at fault; ParserUnavailableError: none can be read now.
   */
  read(bytes: Uint8Array): Promise<ReadResult>
  /** Ends the thread. */
  close(): Promise<void>
}

const FILE = new URL('./thread.ts', import.meta.url)
/** A file of 1 MB needs half of it. */
const MEMORY_MB = 192
/** A file of 1 MB that is made to be slow needs a third of it, on an idle machine. */
const TIME_MS = 3_000
const IDLE_MS = 30_000

/** Starts no thread before there is a file. */
export function createCalendarReader(): CalendarReader {
  const lane = new Lane({
    file: FILE,
    received: (result: ReadResult) => result,
    threads: 1,
    standing: false,
    memoryMb: MEMORY_MB,
    idleMs: IDLE_MS,
    limits: undefined,
    deadlineMs: () => TIME_MS,
    overdue: (ms) => new ParserTimeoutError(ms),
  })
  return { read: (bytes) => lane.read(bytes), close: () => lane.close() }
}
