import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'

/** Headers of one connection (RFC 9110 7.6.1), and those that the gateway itself has set. */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

/**
 * A whole response up to this size is sent as text: joined with the header it is one write, which costs half as much as
 * two.
 */
const JOINED = 8 * 1024

/** Whether a response header, by its name in lower case, is passed on to the client. */
export function passesBack(name: string): boolean {
  return !DROPPED.has(name)
}

/**
 * Streams one response from a service to the client: data that a slow client does not read is not read from the service
 * either, and a client that disconnects aborts the upstream request.
 */
export class ProxiedResponse implements Dispatcher.DispatchHandler {
  /** Settles when the whole response was passed on, or was interrupted. */
  readonly over: Promise<void>
  readonly #response: ServerResponse
  readonly #settle: PromiseWithResolvers<void>
  #controller: Dispatcher.DispatchController | undefined
  #draining = false
  #head: { readonly status: number; readonly headers: Headers } | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    this.#settle = Promise.withResolvers()
    this.over = this.#settle.promise
    response.once('close', this.#onClose)
  }

  readonly #onClose = (): void => {
    if (!this.#response.writableFinished) this.#controller?.abort(new Error('the client has disconnected'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The client disconnected while the request waited for a connection.
    if (this.#response.destroyed) this.#onClose()
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 200) this.#head = { status, headers }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const response = this.#response
    if (response.destroyed) return
    const whole = chunk.length <= JOINED && chunk.length === Number(this.#head?.headers['content-length'])
    this.#begin()
    if (whole) {
      response.end(chunk.toString('latin1'), 'latin1')
      return
    }
    if (response.write(chunk)) return
    controller.pause()
    if (this.#draining) return
    this.#draining = true
    // Once for the whole response: the compressing writer does not support removing a listener.
    response.on('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    const response = this.#response
    if (!response.destroyed && !response.writableEnded) {
      this.#begin()
      response.end()
    }
    this.#settle.resolve()
  }

  /**
   * Begins with the first byte after the header: if the upstream breaks off right there, the client gets another
   * response.
   */
  #begin(): void {
    const head = this.#head
    if (head === undefined) return
    this.#head = undefined
    this.#response.statusCode = head.status
    for (const name in head.headers) {
      const value = head.headers[name]
      if (value !== undefined && passesBack(name)) this.#response.setHeader(name, value)
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#response.off('close', this.#onClose)
    this.#settle.reject(error)
  }
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]
