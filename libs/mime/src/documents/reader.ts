import { LIMITS } from '@restante/contracts/vocabulary'
import { ParserTimeoutError } from '../worker/errors.ts'
import { Lane } from '../worker/lane.ts'
import type { DocumentReading } from './read-document.ts'
import type { DocumentLimits } from './text/limits.ts'

export interface DocumentReaderOptions {
  /** Documents that are read concurrently, each in a thread that exists only while it is needed. */
  readonly threads: number
  /** Heap of one thread; a thread that needs more dies. Default 256. */
  readonly memoryMb?: number
  /** Processor time for one document. Default 10,000. */
  readonly timeoutMs?: number
  /** A thread that idles this long ends. Default 30,000. */
  readonly idleMs?: number
  readonly limits?: Partial<DocumentLimits>
}

/** Threads that read the text of documents, and that one document may kill without harm to the process or to others. */
export interface DocumentReader {
  /**
   * @param bytes are copied; the caller keeps its own
   * @throws ParserCrashedError, ParserTimeoutError: the document may be at fault; ParserUnavailableError: none can be
   * read now
   */
  read(bytes: Uint8Array): Promise<DocumentReading>
  /** Ends all threads; documents still being read are rejected with ParserUnavailableError. */
  close(): Promise<void>
}

const FILE = new URL('./thread.ts', import.meta.url)
/** Buffers of a thread: the document, its copies in the libraries, and what they inflate. */
const OUTSIDE_MB = 192

/** Starts no thread before there is a document. Threads keep the process alive until `close`. */
export function createDocumentReader(options: DocumentReaderOptions): DocumentReader {
  const { threads, memoryMb = LIMITS.document.memoryMb, timeoutMs = LIMITS.document.time, idleMs = 30_000 } = options
  const lane = new Lane({
    file: FILE,
    received: (reading: DocumentReading) => reading,
    threads,
    standing: false,
    memoryMb,
    outsideMb: OUTSIDE_MB,
    idleMs,
    limits: { ...LIMITS.document.reading, ...options.limits },
    deadlineMs: () => timeoutMs,
    overdue: (ms) => new ParserTimeoutError(ms),
  })
  return { read: (bytes) => lane.read(bytes), close: () => lane.close() }
}
