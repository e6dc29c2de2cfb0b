import { connect, type Socket } from 'node:net'
import { waitFor } from '@restante/testkit'

/** A connection on which a test writes bytes directly, and which keeps what it reads. */
export class RawSocket {
  readonly socket: Socket
  /** Each byte as one character. */
  text = ''
  closed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      this.text += chunk
    })
    // The data read before shows how the connection ended.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.closed = true
    })
  }

  /** @param origin of the gateway. */
  static to(origin: string, ...written: (string | Buffer)[]): RawSocket {
    const raw = new RawSocket(connect(Number(new URL(origin).port), '127.0.0.1'))
    for (const part of written) raw.socket.write(part)
    return raw
  }

  async reads(pattern: RegExp): Promise<void> {
    await waitFor(() => pattern.test(this.text), { what: `${pattern} on the connection` })
  }

  /** Resolves to everything that was read, when the connection is closed. */
  async ends(): Promise<string> {
    await waitFor(() => this.closed, { what: `the end of the connection; it read ${this.text}` })
    return this.text
  }
}

/** The head of a request with a key. */
export function headOf(start: string, key: string, ...headers: string[]): string {
  return `${[start, 'Host: edge', `Authorization: Bearer ${key}`, ...headers].join('\r\n')}\r\n\r\n`
}

/** A WebSocket handshake. */
export function handshake(key: string): string {
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  return headOf('GET /v0 HTTP/1.1', key, ...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')
}
