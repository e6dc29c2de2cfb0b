import { Lane, ParserCrashedError, ParserTimeoutError, ParserUnavailableError } from '@restante/mime/worker'
import { KeyedMutex } from '@restante/service/concurrency'
import { UpstreamError } from '@restante/service/errors'
import { writeTask } from './body-task.ts'
import { type Bodies, type BodyOptions, type BodySource, type ShownBody, shownBody } from './shown-body.ts'

/** Reads the bodies of one organization. */
export interface BodyReader {
  /**
   * `shownBody`, in a thread. A body that takes too long, or more memory than a thread has, is left unread, which the
   * answer says by `unreadChars`.
   * @throws UpstreamError when no thread is available; ApiError 503 when the bodies before it take too long.
   */
  read(bodies: Bodies, options?: BodyOptions): Promise<ShownBody>
}

/**
 * Threads that read bodies. Html of 1 MB that is made to be slow takes seconds; in the main thread the calls of everyone
 * would stand still for that time. An organization has one thread at a time, so that its slow bodies leave the other one
 * to the bodies of all others.
 */
export interface BodyThreads {
  readerOf(organizationId: string): BodyReader
  /** Ends all threads. */
  close(): Promise<void>
}

export interface BodyThreadsOptions {
  /** Processor time for the bodies of one message, in milliseconds. Usual html of 1 MB takes a third of it. */
  readonly timeMs?: number
}

const FILE = new URL('./body-thread.ts', import.meta.url)
/** One is kept ready. With a second one, a slow body does not hold up those of other organizations. */
const THREADS = 2
/** A page of 1 MB as a tree needs half of it. */
const MEMORY_MB = 256
const IDLE_MS = 30_000
/** Longest wait for the other bodies of an organization; clients commonly give a call up after a minute. */
const WAIT_MS = 30_000
/** Characters of a text that costs the main thread about a millisecond. */
const SHORT = 20_000
const SOURCES: readonly BodySource[] = ['extracted_text', 'text', 'extracted_html', 'html']

/** Starts the first thread at once. Threads keep the process alive until `close`. */
export function createBodyThreads({ timeMs = 2_000 }: BodyThreadsOptions = {}): BodyThreads {
  const oneByOne = new KeyedMutex({ timeoutMs: WAIT_MS })
  const lane = new Lane({
    file: FILE,
    received: (shown: ShownBody) => shown,
    threads: THREADS,
    standing: true,
    memoryMb: MEMORY_MB,
    idleMs: IDLE_MS,
    limits: undefined,
    deadlineMs: () => timeMs,
    overdue: (ms) => new ParserTimeoutError(ms),
  })
  const inThread = async (bodies: Bodies, options: BodyOptions): Promise<ShownBody> => {
    try {
      return await lane.read(writeTask({ bodies, options }))
    } catch (error) {
      if (error instanceof ParserTimeoutError || error instanceof ParserCrashedError) return unread(bodies)
      if (!(error instanceof ParserUnavailableError)) throw error
      throw new UpstreamError('no thread can read the body', { cause: error })
    }
  }
  return {
    readerOf: (organizationId) => ({
      read: async (bodies, options = {}) =>
        shortText(bodies, options) ?? (await oneByOne.run(organizationId, () => inThread(bodies, options))),
    }),
    close: () => lane.close(),
  }
}

/** A short plain text, which is what most messages are, is read at once. Undefined: there is none, or html is to be read. */
function shortText({ text, extracted_text }: Bodies, options: BodyOptions): ShownBody | undefined {
  const given = {
    ...(text !== undefined && { text }),
    ...(extracted_text !== undefined && { extracted_text }),
  }
  if (Object.values(given).some((each) => each.length > SHORT)) return undefined
  const shown = shownBody(given, options)
  return shown.totalChars > 0 ? shown : undefined
}

function unread(bodies: Bodies): ShownBody {
  const source = SOURCES.find((name) => bodies[name] !== undefined) ?? 'text'
  return { text: '', source, totalChars: 0, offset: 0, unreadChars: bodies[source]?.length ?? 0 }
}
