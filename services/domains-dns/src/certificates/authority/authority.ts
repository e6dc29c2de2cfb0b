import { X509Certificate } from 'node:crypto'
import { backoff, pause } from '@restante/service/concurrency'
import type { Authorization, Client, Order } from 'acme-client'
import { type AccountStore, newPrivateKey } from './account-store.ts'
import { AcmeProblemError, ChallengeFailedError, detailOf } from './errors.ts'
import { type AcmeLibrary, loadLibrary } from './library.ts'
import type { AcmeSettings } from './settings.ts'

/** Where the answers to challenges are kept while the authority asks for them. */
export interface ChallengeStore {
  put(host: string, token: string, keyAuthorization: string): Promise<void>
  remove(token: string): Promise<void>
}

export interface AuthorityOptions {
  readonly settings: AcmeSettings
  readonly accounts: AccountStore
  readonly challenges: ChallengeStore
}

export interface IssuedCertificate {
  /** PEM, the issuers included. */
  readonly chain: string
  /** PKCS #8 in PEM. */
  readonly privateKey: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/** Waits between questions about the state of an order. */
const POLLS = { firstMs: 500, longestMs: 5_000 }
/** `cessationOfOperation` (RFC 5280 5.3.1). */
const CESSATION = 5

/** The certificate authority of the installation. The library is loaded, and the account registered, at the first use. */
export class Authority {
  readonly directory: string
  readonly #options: AuthorityOptions
  #library: Promise<AcmeLibrary> | undefined

  constructor(options: AuthorityOptions) {
    this.directory = options.settings.directory
    this.#options = options
  }

  /**
   * Orders a certificate of one host, which the authority proves by HTTP-01.
   * @throws AcmeProblemError, ChallengeFailedError, AuthorityUnreachableError, or the reason of the signal.
   */
  issue(host: string, signal: AbortSignal): Promise<IssuedCertificate> {
    return this.#withAccount((client, library) => this.#issue(client, library, host, signal))
  }

  /** Revokes a certificate; twice has one effect. @throws AcmeProblemError, AuthorityUnreachableError */
  async revoke(chain: string): Promise<void> {
    await this.#withAccount(async (client) => {
      try {
        await client.revokeCertificate(chain, { reason: CESSATION })
      } catch (error) {
        if (!(error instanceof AcmeProblemError) || error.type !== 'alreadyRevoked') throw error
      }
    })
  }

  async #issue(client: Client, library: AcmeLibrary, host: string, signal: AbortSignal): Promise<IssuedCertificate> {
    const order = await client.createOrder({ identifiers: [{ type: 'dns', value: host }] })
    for (const authorization of await client.getAuthorizations(order)) {
      signal.throwIfAborted()
      if (authorization.status !== 'valid') await this.#prove(client, order, authorization, host, signal)
    }
    await reached(client, order, ['ready', 'valid'], signal)
    const privateKey = newPrivateKey()
    // Without a common name: it holds 64 characters at most, and clients have not read it for long.
    const [, request] = await library.crypto.createCsr({ altNames: [host] }, privateKey)
    await client.finalizeOrder(order, request)
    const issued = await reached(client, order, ['valid'], signal)
    const chain = await client.getCertificate(issued)
    const certificate = new X509Certificate(chain)
    return { chain, privateKey, notBefore: certificate.validFromDate, notAfter: certificate.validToDate }
  }

  async #prove(
    client: Client,
    order: Order,
    authorization: Authorization,
    host: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { challenges } = this.#options
    const challenge = authorization.challenges.find(({ type }) => type === 'http-01')
    if (!challenge) throw new ChallengeFailedError('the authority offers no HTTP-01 challenge')
    await challenges.put(host, challenge.token, await client.getChallengeKeyAuthorization(challenge))
    try {
      await client.completeChallenge(challenge)
      await poll(signal, async () => {
        const [now] = await client.getAuthorizations({ ...order, authorizations: [authorization.url] })
        if (now?.status === 'pending') return undefined
        if (now?.status === 'valid') return now
        throw new ChallengeFailedError(detailOf(now?.challenges.find(({ type }) => type === 'http-01')?.error))
      })
    } finally {
      await challenges.remove(challenge.token)
    }
  }

  /** An authority that has lost the account gets it again, with the same key. */
  async #withAccount<T>(work: (client: Client, library: AcmeLibrary) => Promise<T>): Promise<T> {
    const library = await this.#load()
    try {
      return await work(await this.#connect(library), library)
    } catch (error) {
      if (!(error instanceof AcmeProblemError) || error.type !== 'accountDoesNotExist') throw error
      await this.#options.accounts.setUrl(this.directory, undefined)
      return work(await this.#connect(library), library)
    }
  }

  #load(): Promise<AcmeLibrary> {
    this.#library ??= loadLibrary(this.#options.settings).catch((error: unknown) => {
      this.#library = undefined
      throw error
    })
    return this.#library
  }

  async #connect(library: AcmeLibrary): Promise<Client> {
    const { settings, accounts } = this.#options
    const { directory, contact, externalAccount } = settings
    const { privateKey, url } = await accounts.of(directory)
    const client = new library.Client({
      directoryUrl: directory,
      accountKey: privateKey,
      ...(url !== undefined && { accountUrl: url }),
      ...(externalAccount !== undefined && { externalAccountBinding: externalAccount }),
    })
    if (url !== undefined) return client
    await client.createAccount({
      termsOfServiceAgreed: true,
      ...(contact !== undefined && { contact: [`mailto:${contact}`] }),
    })
    await accounts.setUrl(directory, client.getAccountUrl())
    return client
  }
}

/** Waits until an order has one of the states. @throws ChallengeFailedError when it became invalid. */
function reached(client: Client, order: Order, states: readonly string[], signal: AbortSignal): Promise<Order> {
  return poll(signal, async () => {
    const now = await client.getOrder(order)
    if (now.status === 'invalid') throw new ChallengeFailedError(detailOf(now.error))
    return states.includes(now.status) ? now : undefined
  })
}

/** Asks until there is an answer. @throws the reason of the signal when it is aborted. */
async function poll<T>(signal: AbortSignal, ask: () => Promise<T | undefined>): Promise<T> {
  for (let asked = 1; ; asked++) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await pause(backoff(asked, POLLS), signal)
    signal.throwIfAborted()
  }
}
