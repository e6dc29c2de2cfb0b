import { type DestinationStream, pino } from 'pino'

/** Message of the one wide line per request. */
export const REQUEST_LINE = 'request'

/** More than the lines of one turn ever take; bounds what a process holds whose turn never ends. */
const MOST_HELD = 64 * 1024

/**
 * Output of log lines. Writes are synchronous, so that the last lines of an exiting process are neither lost nor
 * reordered. Only the lines of requests, which come by the thousand, are written together: at the end of the turn of
 * the event loop, or before the next line of another kind, so the order is kept. A process that is killed within that
 * turn loses its request lines; one that exits does not.
 */
class LogOutput implements DestinationStream {
  /** Makes the logger set `lastMsg` before it writes. */
  readonly [pino.symbols.needsMetadataGsym] = true
  lastMsg: string | undefined
  readonly #output = pino.destination({ dest: 1, sync: true })
  #held = ''
  #flushing: NodeJS.Immediate | undefined
  readonly #flush = (): void => {
    clearImmediate(this.#flushing)
    this.#flushing = undefined
    const lines = this.#held
    this.#held = ''
    if (lines !== '') this.#output.write(lines)
  }

  constructor() {
    process.once('exit', this.#flush)
  }

  write(line: string): void {
    this.#held += line
    if (this.lastMsg !== REQUEST_LINE || this.#held.length > MOST_HELD) this.#flush()
    else this.#flushing ??= setImmediate(this.#flush)
  }
}

let output: LogOutput | undefined

/** Standard output, which all loggers of a process share. */
export function standardOutput(): DestinationStream {
  output ??= new LogOutput()
  return output
}
