import { notFound } from '../../errors/api-error.ts'
import type { Component } from '../../process/component.ts'
import { type ReportedService, reportService } from '../../telemetry/process-metrics.ts'
import { HttpListener, type ListenerOptions } from './listener.ts'

/** Where `/metrics` is served; `undefined`: nowhere. */
export type MetricsAddress = Pick<ListenerOptions, 'host' | 'port'> | undefined

/**
 * Serves `/metrics`, and `/readyz` with its reasons, on a port of their own: metrics name organizations' traffic and
 * internals of the system, so neither clients nor other services may reach them.
 */
export class MetricsListener implements Component {
  readonly name = 'metrics'
  readonly stage = 'base'
  readonly #listener: HttpListener | undefined
  readonly #service: ReportedService
  #leaveMetrics: () => void = () => {}

  /** @param service what the metrics report about it, in addition to its health. */
  constructor(
    address: MetricsAddress,
    service: Omit<ReportedService, 'health'>,
    options: Pick<ListenerOptions, 'log' | 'docsUrl' | 'health' | 'limits'>,
  ) {
    this.#service = { ...service, health: options.health }
    this.#listener = address && new HttpListener({ ...options, ...address, audience: 'operators', handle: nothingElse })
  }

  async start(): Promise<void> {
    if (this.#listener === undefined) return
    this.#leaveMetrics = reportService(this.#service)
    await this.#listener.start()
  }

  async stop(): Promise<void> {
    this.#leaveMetrics()
    await this.#listener?.stop()
  }
}

async function nothingElse(): Promise<never> {
  throw notFound('Route')
}
