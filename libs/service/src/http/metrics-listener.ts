import type { Component } from '../process/component.ts'
import { notFound } from './api-error.ts'
import { HttpListener, type ListenerOptions } from './listener.ts'

/** Where `/metrics` is served; `undefined`: nowhere. */
export type MetricsAddress = Pick<ListenerOptions, 'host' | 'port'> | undefined

/**
 * `/metrics`, and `/readyz` with its reasons, on a port of their own: metrics name organizations' traffic and the inside
 * of the system, so that neither clients nor other services have a way to them.
 */
export class MetricsListener implements Component {
  readonly name = 'metrics'
  readonly #listener: HttpListener | undefined

  constructor(address: MetricsAddress, options: Pick<ListenerOptions, 'log' | 'docsUrl' | 'health' | 'limits'>) {
    this.#listener = address && new HttpListener({ ...options, ...address, audience: 'operators', handle: nothingElse })
  }

  async start(): Promise<void> {
    await this.#listener?.start()
  }

  async stop(): Promise<void> {
    await this.#listener?.stop()
  }
}

async function nothingElse(): Promise<never> {
  throw notFound('Route')
}
