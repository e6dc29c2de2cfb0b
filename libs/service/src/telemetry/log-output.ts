import { type DestinationStream, pino } from 'pino'

/** Message of the one wide line that each request leaves. */
export const REQUEST_LINE = 'request'

/** More than the lines of one turn ever take, so that a process that never comes to its end holds no more. */
const MOST_HELD = 64 * 1024

/**
 * Where lines go. A line is out before the call returns: written behind it, the last lines of a process that ends could
 * be passed by later ones, or never come. Only lines of requests, which come by the thousand, leave together at the end
 * of the turn of the event loop, or in front of the next other line: their order stays. A process that is killed in that
 * turn leaves none of its requests; one that exits does.
 */
class LogOutput implements DestinationStream {
  /** Asks the logger to set `lastMsg` before it writes. */
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
