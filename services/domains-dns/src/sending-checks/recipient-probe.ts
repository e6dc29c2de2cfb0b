import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { hostname } from 'node:os'
import type { SendingOutcome } from '../records/checks.ts'

/** A mail host as it is connected to. */
export interface ProbedHost {
  readonly address: string
  readonly port: number
}

const PROBE_MS = 5_000
/** RFC 5321 4.5.3.1.5. */
const LONGEST_LINE = 512

/**
 * Asks a mail host whether it would accept a report for an address, and sends none (RFC 5321 3.3).
 * Never rejects.
 */
export async function probeRecipient(
  { address, port }: ProbedHost,
  recipient: string,
  signal: AbortSignal,
): Promise<SendingOutcome> {
  const socket = connect({ host: address, port, signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]) })
  try {
    await once(socket, 'connect')
    return await converse(socket, recipient)
  } catch {
    return 'unanswered'
  } finally {
    socket.destroy()
  }
}

async function converse(socket: Socket, recipient: string): Promise<SendingOutcome> {
  const replies = repliesOf(socket)
  const commands = [undefined, `EHLO ${hostname()}`, 'MAIL FROM:<>', `RCPT TO:<${recipient}>`]
  for (const command of commands) {
    if (command !== undefined) socket.write(`${command}\r\n`)
    const { value: code, done } = await replies.next()
    if (done || code >= 400) {
      socket.end('QUIT\r\n')
      return !done && code >= 500 ? 'failed' : 'unanswered'
    }
  }
  socket.end('QUIT\r\n')
  return 'passed'
}

/** Codes of the replies; lines of one reply but the last have a hyphen after the code (RFC 5321 4.2.1). */
async function* repliesOf(socket: Socket): AsyncGenerator<number, undefined> {
  let rest = ''
  for await (const chunk of socket.setEncoding('latin1')) {
    const lines = `${rest}${chunk}`.split('\r\n')
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
    for (const line of lines) {
      const [, code] = /^(\d{3})(?: |$)/.exec(line) ?? []
      if (code !== undefined) yield Number(code)
    }
  }
  return undefined
}
