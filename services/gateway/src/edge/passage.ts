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
export class Passage implements Dispatcher.DispatchHandler {
  /** Settles when all of the answer is handed over, or broke off. */
  readonly over: Promise<void>
  readonly #response: ServerResponse
  readonly #settle: PromiseWithResolvers<void>
  #controller: Dispatcher.DispatchController | undefined
  /** Bytes of the whole body, where the service says so. */
  #length = Number.NaN

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

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Answer): void {
    const response = this.#response
    if (status < 200 || response.destroyed) return
    response.statusCode = status
    this.#length = Number(headers['content-length'])
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined && passesBack(name)) response.setHeader(name, value)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const response = this.#response
    if (response.destroyed) return
    if (!response.headersSent && chunk.length <= JOINED && chunk.length === this.#length) {
      response.end(chunk.toString('latin1'), 'latin1')
      return
    }
    if (response.write(chunk)) return
    controller.pause()
    response.once('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    const response = this.#response
    if (!response.destroyed && !response.writableEnded) response.end()
    this.#settle.resolve()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#response.off('close', this.#onClose)
    this.#settle.reject(error)
  }
}

type Answer = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]
