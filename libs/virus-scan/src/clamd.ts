import { connect, type NetConnectOpts } from 'node:net'
import { UpstreamError } from '@restante/service/errors'

/** What clamd says of a mail. */
export type ClamdAnswer =
  | { readonly kind: 'clean' }
  | { readonly kind: 'found'; readonly signature: string }
  /** Larger than its StreamMaxLength: it has not been scanned. */
  | { readonly kind: 'too_large' }

/** clamd broke a scan off, was too slow, or could not scan the mail. */
export class ScanFailedError extends Error {
  override readonly name = 'ScanFailedError'
}

/** The connection ended before there was an answer. */
class ConnectionEndedError extends ScanFailedError {
  /** @param error is not passed on as the cause, which would make this a failure of the infrastructure. */
  constructor(error: Error | undefined) {
    super(`clamd ended the connection without an answer (${error?.message ?? 'close'})`)
  }
}

/** The command, ended by NUL as its `z` says; then chunks, each after its length; then an empty one. */
const COMMAND = Buffer.from('zINSTREAM\0')
const END = Buffer.alloc(4)
const FOUND = /^(?:stream|instream\([^)]*\)): (.+) FOUND$/
const CLEAN = /^(?:stream|instream\([^)]*\)): OK$/
const TOO_LARGE = /^INSTREAM size limit exceeded\. ERROR$/
/** Far longer than clamd needs to refuse a length. */
const LENGTH_MS = 1_000
/** Far longer than any answer to a single stream. */
const MAX_ANSWER = 4_096

/**
 * The address of a clamd: `tcp://host:port` or `unix:///path`; undefined for any other text.
 */
export function clamdAddress(text: string): NetConnectOpts | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port, pathname } = new URL(text)
  if (protocol === 'tcp:' && hostname !== '' && port !== '')
    return { host: hostname.replace(/^\[(.+)\]$/, '$1'), port: Number(port) }
  if (protocol === 'unix:' && hostname === '' && pathname.length > 1) return { path: decodeURIComponent(pathname) }
  return undefined
}

/**
 * Has clamd scan bytes that it gets over the connection (INSTREAM, clamd(8)). Its protocol is implemented here because
 * no client library for it is well kept (decision 37).
 *
 * The connection is closed when this ends, so the bytes may be freed then.
 * @param timeoutMs for all of it
 * @throws UpstreamError when there is no connection; ScanFailedError when there is one, and no answer about the bytes.
 */
export async function scanStream(address: NetConnectOpts, bytes: Buffer, timeoutMs: number): Promise<ClamdAnswer> {
  try {
    return readAnswer(await exchange(address, [COMMAND, lengthOf(bytes), bytes, END], timeoutMs))
  } catch (error) {
    const isTooLarge = error instanceof ConnectionEndedError && (await refusesLength(address, bytes, timeoutMs))
    if (isTooLarge) return { kind: 'too_large' }
    throw error
  }
}

/**
 * Whether clamd refuses a chunk of this length. It does so as soon as it has read the length, and ends the connection: what
 * is still on its way then makes the system discard the answer. Where nothing follows the length, the answer arrives; to a
 * length that clamd accepts there is none.
 */
async function refusesLength(address: NetConnectOpts, bytes: Buffer, timeoutMs: number): Promise<boolean> {
  try {
    return TOO_LARGE.test(await exchange(address, [COMMAND, lengthOf(bytes)], Math.min(timeoutMs, LENGTH_MS)))
  } catch {
    return false
  }
}

/** Sends bytes, and returns the answer. @throws UpstreamError, ScanFailedError */
async function exchange(address: NetConnectOpts, parts: readonly Buffer[], timeoutMs: number): Promise<string> {
  const { promise: answered, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(address)
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
    const end = text.indexOf('\0')
    if (end >= 0) resolve(text.slice(0, end))
    else if (text.length > MAX_ANSWER) reject(new ScanFailedError('the answer of clamd is too long'))
  })
  let broken = (error?: Error): Error => new UpstreamError('no connection to clamd', { cause: error })
  socket.once('connect', () => {
    broken = (error) => new ConnectionEndedError(error)
  })
  socket.on('error', (error) => reject(broken(error)))
  socket.on('close', () => reject(broken()))
  const timer = setTimeout(
    () => reject(socket.connecting ? broken() : new ScanFailedError(`clamd did not answer in ${timeoutMs} ms`)),
    timeoutMs,
  )
  for (const part of parts) socket.write(part)
  try {
    return await answered
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

/** The length of a chunk: 4 bytes in network order. */
function lengthOf(chunk: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(chunk.length)
  return length
}

function readAnswer(text: string): ClamdAnswer {
  const [, signature] = FOUND.exec(text) ?? []
  if (signature !== undefined) return { kind: 'found', signature }
  if (CLEAN.test(text)) return { kind: 'clean' }
  if (TOO_LARGE.test(text)) return { kind: 'too_large' }
  throw new ScanFailedError(`clamd answered: ${text}`)
}
