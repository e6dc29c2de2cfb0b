import { LIMITS } from '@restante/contracts/vocabulary'
import { ParserTimeoutError } from '../worker/errors.ts'
import { Lane } from '../worker/lane.ts'
import type { DmarcReport } from './aggregate-report.ts'

/** A thread that reads DMARC reports, which one of them may kill without harm to the process. */
export interface DmarcReader {
  /**
   * @param bytes the attachment of a report; copied
   * @returns undefined when it is no report, is damaged or exceeds a limit
   * @throws ParserCrashedError, ParserTimeoutError: the report may be at fault; ParserUnavailableError: none can be read
   * now
   */
  read(bytes: Uint8Array): Promise<DmarcReport | undefined>
  /** Ends the thread. */
  close(): Promise<void>
}

const FILE = new URL('./thread.ts', import.meta.url)
const MEMORY_MB = 96
/** The report, and what it inflates to. */
const OUTSIDE_MB = 64
const TIME_MS = 5_000
const IDLE_MS = 30_000

/** Starts no thread before there is a report. */
export function createDmarcReader(limits = LIMITS.dmarc.reading): DmarcReader {
  const lane = new Lane({
    file: FILE,
    received: ({ report }: { readonly report: DmarcReport | undefined }) => report,
    threads: 1,
    standing: false,
    memoryMb: MEMORY_MB,
    outsideMb: OUTSIDE_MB,
    idleMs: IDLE_MS,
    limits,
    deadlineMs: () => TIME_MS,
    overdue: (ms) => new ParserTimeoutError(ms),
  })
  return { read: (bytes) => lane.read(bytes), close: () => lane.close() }
}
