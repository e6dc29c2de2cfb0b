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

/** A whole answer up to here is sent as text: joined with the head it is one write, which costs half of one in parts. */
const JOINED = 8 * 1024

/** Whether a header of an answer, by its name in lower case, is for the client. */
export function passesBack(name: string): boolean {
  return !DROPPED.has(name)
}

/**
 * Carries one answer from a service to the client as it comes: what a slow reader does not take is not read either, and a
 * client that goes away ends the work behind.
 */
export class ProxiedResponse implements Dispatcher.DispatchHandler {
  /** Settles when all of the answer is handed over, or broke off. */
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
    if (!this.#response.writableFinished) this.#controller?.abort(new Error('the client has gone'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It went while the request waited for a connection.
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
    // Once for the whole answer: where it is compressed, a listener is not taken away from what writes it.
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

  /** Once there is more than a head: after one that breaks off right there, the client gets another answer. */
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
