import { Resolver } from 'node:dns/promises'
import { messageOf } from '@restante/service/errors'
import mxConnect, { type MxConnection } from 'mx-connect'
import { deferredBy, type Outcome, refusedBy } from '../outcome/outcome.ts'
import type { Dane } from './dane/dane.ts'

export interface MxHostsOptions {
  /** Port of the MX hosts; 25 except in tests. */
  readonly port: number
  /** DNS servers (`address` or `address:port`) instead of the system's. */
  readonly dnsServers: readonly string[]
  readonly connectMs: number
  /**
   * Whether an MX may be on a loopback or private network. Never on a public installation: anyone can publish such an
   * MX.
   */
  readonly allowLocal: boolean
  /** Absent: TLSA records are not looked for. */
  readonly dane?: Dane | undefined
}

/** No host of the domain could be reached, or the domain accepts no mail. */
export class NoMxError extends Error {
  override readonly name = 'NoMxError'
  readonly outcome: Outcome
  constructor(outcome: Outcome, cause: unknown) {
    super(outcome.verdict.text, { cause })
    this.outcome = outcome
  }
}

const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Finds and connects to the MX hosts of domains: MX by preference, the domain's own addresses where there is no MX (RFC
 * 5321 5.1), nothing where there is a null MX (RFC 7505).
 */
export class MxHosts {
  readonly #options: MxHostsOptions
  readonly #resolver: Resolver

  constructor(options: MxHostsOptions) {
    this.#options = options
    this.#resolver = new Resolver({ timeout: 5_000, tries: 2 })
    if (options.dnsServers.length > 0) this.#resolver.setServers([...options.dnsServers])
  }

  /**
   * Opens a TCP connection to the best host that answers.
   * @param passedOver addresses that were tried in this attempt already.
   * @throws NoMxError; the reason of `signal`.
   */
  async connect(domain: string, passedOver: readonly string[], signal: AbortSignal): Promise<MxConnection> {
    const { port, connectMs, allowLocal, dane } = this.#options
    signal.throwIfAborted()
    const connecting = mxConnect({
      target: domain,
      port,
      maxConnectTime: connectMs,
      ignoreMXHosts: passedOver,
      ...(dane && { dane: dane.optionsFor(domain) }),
      dnsOptions: {
        blockLocalAddresses: !allowLocal,
        blockReservedNetworks: !allowLocal,
        resolveRecords: (name, type) => this.#resolver.resolve(name, type),
      },
    })
    try {
      return await unlessAborted(connecting, signal, ({ socket }) => socket.destroy())
    } catch (error) {
      signal.throwIfAborted()
      throw new NoMxError(outcomeOf(error, domain), error)
    }
  }
}

/**
 * Waits for work that cannot be interrupted, such as name resolution.
 * @param tooLate called with a result that arrives after `signal` was aborted.
 * @throws the reason of `signal`.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  tooLate: (result: T) => void = () => {},
): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => {
    reject(signal.reason)
    work.then(tooLate, () => {})
  }
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The outcome for the recipients when connecting fails (RFC 3463 3.2, 3.5; RFC 7505 4). */
function outcomeOf(error: unknown, domain: string): Outcome {
  const { category, code, temporary } = lookupError(error)
  const text = messageOf(error)
  // Without its records it is not known what the host demands (RFC 7672 2.1.3).
  if (category === 'dane') return deferredBy('4.7.5', text)
  if (category !== 'dns') return deferredBy('4.4.1', text)
  if (code === 'ENULLMX') return refusedBy('5.1.10', `${domain} does not take mail (null MX).`)
  if (temporary) return deferredBy('4.4.3', text)
  return NOT_THERE.has(code) ? refusedBy('5.1.2', `${domain} was not found.`) : refusedBy('5.4.4', text)
}

function lookupError(error: unknown): { category: string; code: string; temporary: boolean } {
  const member = (name: string): unknown =>
    typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
  return { category: String(member('category')), code: String(member('code')), temporary: member('temporary') === true }
}
