import { setImmediate as turn } from 'node:timers/promises'
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { SIGNATURE } from './proxy-header.ts'

const CR = 0x0d
const LF = 0x0a
const TAB = 0x09
const NOTHING = Buffer.alloc(0)
/** A header of the PROXY protocol, version 1. */
const PROXY_COMMAND = /^PROXY (?:TCP4|TCP6|UNKNOWN)\b/

/** RFC 5321 4.5.3.1.4 requires 512; SMTPUTF8 and parameters need more. */
export const COMMAND_BYTES = 4_096
/** Most commands of one packet that are answered before other connections are served. */
const COMMANDS_PER_TURN = 50

/**
 * Splits a client's input into commands and mails. The library's own reader accepts a bare LF as the end of a command,
 * runs a command that the connection's end cut off, and passes on bare CRs. Here a command is a line that ends with CR
 * LF and has no other control character in it (RFC 5321 2.3.8); anything else is refused, and the rest of the input is
 * ignored.
 */
export class CommandStream extends SMTPStream {
  /** Called for a header of the PROXY protocol where none is expected. It must close the stream. */
  onproxyheader: () => void = () => {}
  readonly #refuse: (problem: string) => void
  #unread = NOTHING

  /** @param refuse must close the stream (`isClosed`). */
  constructor(refuse: (problem: string) => void) {
    super()
    this.#refuse = refuse
  }

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', next: (error?: Error | null) => void): void {
    if (this._dataMode || this.isClosed) {
      super._write(chunk, encoding, next)
      return
    }
    this.#unread = Buffer.concat([this.#unread, chunk])
    this.#runCommands().then(() => {
      // Data after DATA in the same packet is content.
      const content = this._dataMode ? this.#unread : NOTHING
      if (this._dataMode || this.isClosed) this.#unread = NOTHING
      super._write(content, 'buffer', next)
    }, next)
  }

  /** One command after the other, each when the previous one was answered. */
  async #runCommands(): Promise<void> {
    for (let run = 1; !this._dataMode && !this.isClosed; run++) {
      const command = this.#nextCommand()
      if (command === undefined) return
      await new Promise<void>((answered) => this.oncommand(command, answered))
      if (run % COMMANDS_PER_TURN === 0) await turn()
    }
  }

  #nextCommand(): Buffer | undefined {
    if (this.#unread.subarray(0, SIGNATURE.length).equals(SIGNATURE)) {
      this.onproxyheader()
      return undefined
    }
    const end = this.#unread.indexOf(LF)
    const line = end < 0 ? this.#unread : this.#unread.subarray(0, end)
    const problem = line.length > COMMAND_BYTES ? 'a command that is too long' : end < 0 ? undefined : problemOf(line)
    if (problem !== undefined) this.#refuse(problem)
    if (problem !== undefined || end < 0) return undefined
    this.#unread = this.#unread.subarray(end + 1)
    const command = line.subarray(0, -1)
    if (!PROXY_COMMAND.test(command.toString('latin1'))) return command
    this.onproxyheader()
    return undefined
  }
}

/** @param line with its CR, without its LF */
function problemOf(line: Buffer): string | undefined {
  if (line.at(-1) !== CR) return 'a bare LF'
  if (line.indexOf(CR) < line.length - 1) return 'a bare CR'
  const isControl = (byte: number): boolean => (byte < 0x20 && byte !== TAB) || byte === 0x7f
  return line.subarray(0, -1).some(isControl) ? 'a control character' : undefined
}
