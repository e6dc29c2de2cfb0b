import type { GuardedFetch, OutboundResponse } from '@restante/service/outbound'
import {
  OutboundNetworkError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLargeError,
} from '@restante/service/outbound'
import type { Logger } from '@restante/service/telemetry'
import type { Resolvers } from '../../dns/resolvers.ts'
import { type ProviderSettings, readSettings } from './settings.ts'
import { isOnPort, settingsUrl } from './urls.ts'

/** Names the template of the installation at every provider. */
export interface TemplateIds {
  readonly providerId: string
  readonly serviceId: string
}

export interface DiscoveryOptions {
  readonly dns: Pick<Resolvers, 'resolve'>
  readonly fetcher: Pick<GuardedFetch, 'fetch'>
  /** Port of every request to a provider. */
  readonly port: number
  /** Undefined: the installation has none, so that none is supported. */
  readonly template: TemplateIds | undefined
  /** Ids of the providers that are asked for nothing but their name unless listed. Empty: all are accepted. */
  readonly accepted: readonly string[]
  readonly log: Logger
}

/** What is known of the DNS provider of a zone. */
export interface Discovered {
  readonly providerName?: string
  /** The page on which the template can be applied; absent: this provider does not support it. */
  readonly page?: { readonly url: string; readonly width: number; readonly height: number }
}

/** For all requests of one discovery together. */
const TOTAL_MS = 5_000
const MOST_BYTES = 64 * 1_024
/** Of the texts at `_domainconnect`, so that a zone cannot cause many requests. */
const MOST_HOSTS = 2
const KEPT_MS = 600_000
const MOST_KEPT = 1_000

interface Answer {
  readonly discovered: Discovered
  /** Whether the provider has answered every question. */
  readonly complete: boolean
}

interface Kept {
  readonly answer: Promise<Answer>
  readonly until: number
}

/**
 * Asks the DNS provider of a zone whether it applies the template of the installation (domains 9). The host comes from
 * DNS, which anybody may write: nothing but a short JSON document is taken from it, and it is reached only through the
 * guarded client, on one port and without redirects. Complete answers are kept for 10 minutes per zone, and concurrent
 * questions about a zone share one.
 */
export class Discovery {
  readonly #options: DiscoveryOptions
  readonly #kept = new Map<string, Kept>()

  constructor(options: DiscoveryOptions) {
    this.#options = options
  }

  /** @param zone apex, in lower case and A-labels. */
  async find(zone: string): Promise<Discovered> {
    const known = this.#kept.get(zone)
    if (known !== undefined && known.until > performance.now()) return (await known.answer).discovered
    const kept = { answer: this.#ask(zone), until: performance.now() + KEPT_MS }
    this.#keep(zone, kept)
    try {
      const { discovered, complete } = await kept.answer
      if (!complete) this.#forget(zone, kept)
      return discovered
    } catch (error) {
      this.#forget(zone, kept)
      throw error
    }
  }

  #keep(zone: string, kept: Kept): void {
    // A map lists its keys in the order in which they were added: the first one is the oldest.
    this.#kept.delete(zone)
    this.#kept.set(zone, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest)
  }

  #forget(zone: string, kept: Kept): void {
    if (this.#kept.get(zone) === kept) this.#kept.delete(zone)
  }

  async #ask(zone: string): Promise<Answer> {
    const { dns, port } = this.#options
    const texts = await dns.resolve(`_domainconnect.${zone}`, 'TXT').catch(() => [])
    const urls = texts.flatMap((strings) => settingsUrl(strings.join(''), zone, port) ?? [])
    const deadline = performance.now() + TOTAL_MS
    for (const url of urls.slice(0, MOST_HOSTS)) {
      const response = await this.#get(url, deadline)
      const settings = response && readSettings(jsonOf(response))
      if (settings !== undefined) return this.#judge(settings, deadline)
    }
    return { discovered: {}, complete: false }
  }

  async #judge(settings: ProviderSettings, deadline: number): Promise<Answer> {
    const { template, accepted, port } = this.#options
    const { providerId, name: providerName, page, api, width, height } = settings
    const isAccepted = accepted.length === 0 || accepted.includes(providerId)
    const answerable = template !== undefined && page !== undefined && isAccepted && isOnPort(api, port)
    if (!answerable) return { discovered: { providerName }, complete: true }
    const { providerId: own, serviceId } = template
    const url = `${api}/v2/domainTemplates/providers/${encodeURIComponent(own)}/services/${encodeURIComponent(serviceId)}`
    const response = await this.#get(url, deadline)
    if (response === undefined) return { discovered: { providerName }, complete: false }
    const supported = isSuccess(response) && (response.body.length === 0 || isJson(response))
    return { discovered: { providerName, ...(supported && { page: { url: page, width, height } }) }, complete: true }
  }

  /** @returns undefined when there is no answer within the rules. */
  async #get(url: string, deadline: number): Promise<OutboundResponse | undefined> {
    const timeoutMs = Math.ceil(deadline - performance.now())
    if (timeoutMs <= 0) return undefined
    const { fetcher, log } = this.#options
    try {
      return await fetcher.fetch(url, { headers: { accept: 'application/json' }, timeoutMs, maxBytes: MOST_BYTES })
    } catch (error) {
      if (!isOfHost(error)) throw error
      log.info({ err: error, url }, 'request to a DNS provider failed')
      return undefined
    }
  }
}

function isOfHost(error: unknown): boolean {
  return [OutboundNetworkError, OutboundRefusedError, OutboundTimeoutError, OutboundTooLargeError].some(
    (kind) => error instanceof kind,
  )
}

function jsonOf(response: OutboundResponse): unknown {
  if (!isSuccess(response) || !isJson(response)) return undefined
  try {
    return JSON.parse(response.body.toString())
  } catch {
    return undefined
  }
}

/** Of any status of success; a redirect is none, and is not followed. */
function isSuccess({ status }: OutboundResponse): boolean {
  return status >= 200 && status < 300
}

function isJson({ headers }: OutboundResponse): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(String(headers['content-type'] ?? ''))
}
