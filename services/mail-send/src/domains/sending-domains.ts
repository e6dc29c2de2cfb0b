import { type DomainLookup, type Registration, registrationOf } from '@restante/domains'
import { type DkimKeys, normalizeAddress } from '@restante/mime'
import { ApiError } from '@restante/service/errors'
import type { SigningKeys } from './signing-keys.ts'

/** The domain that an inbox sends from. */
export interface SendingDomain {
  /** Lower case, in A-labels. */
  readonly name: string
  /** Of the installation, where every organization may have inboxes, and the service sets some headers itself. */
  readonly isShared: boolean
  /** Domain of the envelope senders; undefined: the one of the installation. */
  readonly returnPath: string | undefined
  /** Host of the images that tell of opening; undefined where there is none. */
  readonly trackingHost: string | undefined
  /** @throws ApiError 403; UpstreamError when the owner of the key does not answer. */
  readonly dkim: () => Promise<DkimKeys | undefined>
}

export interface SendingDomainsOptions {
  readonly lookup: DomainLookup
  readonly keys: SigningKeys
  /** The domains of the installation, lower case, in ASCII, and the keys that sign for all of them. */
  readonly ownDomains: ReadonlySet<string>
  readonly ownKeys: DkimKeys | undefined
}

/** From which domains mail may be sent, and how. */
export class SendingDomains {
  readonly #options: SendingDomainsOptions

  constructor(options: SendingDomainsOptions) {
    this.#options = options
  }

  /**
   * The domain of an inbox: for a custom one, what the most specific registration of its organization says. What is
   * known of it here is believed while it says yes; before a send is refused for it, its owner is asked.
   * @param isTracked whether the opening of a message is to be told, which needs a host.
   * @throws ApiError 403 when the domain is unknown, deleted, lost to another organization, or not ready for sending
   *   (domains 7.3, 8); UpstreamError when its owner does not answer.
   */
  async of(address: string, organizationId: string, isTracked: boolean): Promise<SendingDomain> {
    const { lookup, keys, ownDomains, ownKeys } = this.#options
    const normal = normalizeAddress(address)
    const domain = normal.slice(normal.lastIndexOf('@') + 1)
    if (ownDomains.has(domain)) {
      const dkim = async () => ownKeys && { ...ownKeys, domain }
      return { name: domain, isShared: true, returnPath: undefined, trackingHost: undefined, dkim }
    }
    const known = registrationOf(domain, organizationId, await lookup.of(domain))
    const suffices = maySend(known) && (!isTracked || known.tracking_host !== null)
    const registration = suffices ? known : registrationOf(domain, organizationId, await lookup.ofOwner(domain))
    if (!maySend(registration)) throw new ApiError('domain_not_verified')
    return {
      name: domain,
      isShared: false,
      returnPath: registration.return_path ?? undefined,
      trackingHost: registration.tracking_host ?? undefined,
      dkim: () => keys.of(registration.id),
    }
  }
}

function maySend(registration: Registration | undefined): registration is Registration {
  return registration?.proven === true && registration.sending_ready
}
