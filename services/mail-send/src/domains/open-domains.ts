import { DomainLookup, domainsConsumer } from '@restante/domains'
import type { DkimKeys } from '@restante/mime'
import { ServiceClient } from '@restante/service/http'
import type { Config, SendKit } from '../config.ts'
import { SendingDomains } from './sending-domains.ts'
import { SigningKeys } from './signing-keys.ts'

/** Follows the registered domains, and gets their keys from their owner. @param ownKeys those of the installation. */
export function openDomains(kit: SendKit, config: Config, ownKeys: DkimKeys | undefined): SendingDomains {
  const { db, kafka, name } = kit
  kit.use(domainsConsumer({ service: name, kafka, db }))
  const { sharedDomains: ownDomains, domainsDns } = config
  const owner = domainsDns && kit.use(new ServiceClient({ from: name, to: 'domains-dns', ...domainsDns }))
  return new SendingDomains({
    lookup: new DomainLookup({ db, ownDomains }),
    keys: new SigningKeys(owner),
    ownDomains,
    ownKeys,
  })
}
