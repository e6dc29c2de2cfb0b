import { DomainLookup, domainsProjection } from '@restante/domains'
import type { DkimKeys } from '@restante/mime'
import type { Config, SendKit } from '../config.ts'
import { SendingDomains } from './sending-domains.ts'
import { SigningKeys } from './signing-keys.ts'

/** Follows the registered domains, and gets their keys from their owner. @param ownKeys those of the installation. */
export function openDomains(kit: SendKit, { sharedDomains }: Config, ownKeys: DkimKeys | undefined): SendingDomains {
  const { db, kafka, name } = kit
  const owner = kit.peer('domains-dns')
  kit.use(domainsProjection({ service: name, kafka, db, owner }))
  return new SendingDomains({
    lookup: new DomainLookup({ db, ownDomains: sharedDomains, owner }),
    keys: new SigningKeys(owner),
    ownDomains: sharedDomains,
    ownKeys,
  })
}
