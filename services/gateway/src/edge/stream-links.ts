import type { Duplex } from 'node:stream'
import { type Link, requestLink } from '@restante/service/links'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'

const openLinks = new Gauge({
  name: 'restante_gateway_stream_links',
  help: 'Connections to the live stream service that carry several streams each',
})

/** Links that take new streams. Each leads to one process of the stream service, which the network chooses. */
const LINKS = 8
/** After this time a link takes no new streams, so that they reach processes that were started meanwhile. */
const RENEW_MS = 3_600_000
/** A service that is not there is asked without a link, in what is left of the time for an answer. */
const REQUEST_MS = 1_000

export interface StreamLinksOptions {
  /** Base URL of the live stream service. */
  readonly url: string
  /** The key that the two services share. */
  readonly key: string
  readonly log: Logger
}

/** The links to the live stream service, over which streams share a few connections (decision 109). */
export class StreamLinks implements Component {
  readonly name = 'stream links'
  readonly #options: StreamLinksOptions
  readonly #links = new Set<Link>()
  #filling: Promise<void> | undefined

  constructor(options: StreamLinksOptions) {
    this.#options = options
  }

  /** Resolves when there is a link for the next stream, or none can be had now. More are opened while they are too few. */
  async ready(): Promise<void> {
    const missing = LINKS - this.#usable().length
    if (missing === 0) return
    this.#filling ??= this.#fill(missing).finally(() => {
      this.#filling = undefined
    })
    if (missing === LINKS) await this.#filling
  }

  /** A connection for one stream, on the link with the fewest. `undefined` without a link, as before a service that knows none. */
  open(): Duplex | undefined {
    const [first, ...others] = this.#usable()
    return others.reduce((least, link) => (least && least.size <= link.size ? least : link), first)?.open()
  }

  async stop(): Promise<void> {
    await this.#filling
    for (const link of this.#links) link.close()
  }

  /** The links that take new streams. */
  #usable(): Link[] {
    const renewed = performance.now() - RENEW_MS
    for (const link of this.#links) if (link.begun < renewed) link.retire()
    return [...this.#links].filter(({ isOpen }) => isOpen)
  }

  async #fill(missing: number): Promise<void> {
    const requests = await Promise.allSettled(Array.from({ length: missing }, () => this.#add()))
    const [failure] = requests.filter(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected')
      this.#options.log.warn({ err: failure.reason }, 'link to the live stream service not opened')
  }

  async #add(): Promise<void> {
    const { url, key, log } = this.#options
    const link = await requestLink({
      from: 'gateway',
      to: 'websocket-fanout',
      url,
      key,
      timeoutMs: REQUEST_MS,
      onClose: (reason) => {
        this.#links.delete(link)
        openLinks.dec()
        if (reason !== undefined) log.warn({ err: reason }, 'link to the live stream service broke')
      },
    })
    this.#links.add(link)
    openLinks.inc()
  }
}
