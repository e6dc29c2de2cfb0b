import type { Socket } from 'node:net'
import { type ProxiedClient, readProxyHeader } from './proxy-header.ts'

/** A proxy sends its header at once; the protocol asks receivers to wait for at least 3 s. */
const HEADER_MS = 5_000
/** How long a proxy may take to read a refusal. */
const LINGER_MS = 1_000

/** The header of a connection cannot be used; the connection was answered and is closing. */
export class ProxyHeaderError extends Error {
  override readonly name = 'ProxyHeaderError'
}

/**
 * Takes the header of the PROXY protocol off a connection. What follows it stays in the socket.
 * @returns the client that the proxy speaks for, or undefined when it speaks for itself.
 * @throws ProxyHeaderError when it is malformed or does not arrive in time, Error when the proxy has gone.
 */
export async function takeProxyHeader(socket: Socket): Promise<ProxiedClient | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<ProxiedClient | undefined>()
  let seen: Buffer = Buffer.alloc(0)
  const read = (): void => {
    for (let chunk = take(socket); chunk !== undefined; chunk = take(socket)) {
      seen = Buffer.concat([seen, chunk])
      const header = readProxyHeader(seen)
      if (header.kind === 'incomplete') continue
      socket.off('readable', read)
      if (header.kind === 'broken') {
        reject(new ProxyHeaderError(header.problem))
        return
      }
      const following = seen.subarray(header.length)
      if (following.length > 0) socket.unshift(following)
      resolve(header.client)
      return
    }
  }
  const gone = (): void => reject(new Error('the proxy closed the connection before its header'))
  const late = setTimeout(() => reject(new ProxyHeaderError('a header that did not arrive in time')), HEADER_MS)
  socket.on('readable', read).on('error', gone).on('close', gone).on('end', gone)
  try {
    return await promise
  } catch (error) {
    if (error instanceof ProxyHeaderError) refuseProxyHeader(socket, error.message)
    else socket.on('error', () => {}).destroy()
    throw error
  } finally {
    clearTimeout(late)
    socket.off('readable', read).off('error', gone).off('close', gone).off('end', gone)
  }
}

function take(socket: Socket): Buffer | undefined {
  const chunk: unknown = socket.read()
  return Buffer.isBuffer(chunk) ? chunk : undefined
}

function refuseProxyHeader(socket: Socket, problem: string): void {
  // Later errors of this socket do not matter.
  socket.on('error', () => {})
  socket.end(`554 5.5.0 Refused for ${problem}\r\n`)
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
