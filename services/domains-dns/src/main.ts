import { Timers } from '@restante/jobs'
import { defineService, runService } from '@restante/kit'
import { KeyRing } from '@restante/service/secrets'
import { openCertificates } from './certificates/open-certificates.ts'
import { CheckSweeper } from './checks/sweeper.ts'
import { configuration } from './config.ts'
import { KeyRotation } from './keys/rotation.ts'
import { openRoutes } from './open-routes.ts'
import { ProofSweeper } from './registrations/proofs.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'
import type { DomainTimers } from './timers/kinds.ts'

/** Custom domains: registration, DNS records and their verification, signing keys, one-click setup. */
export const service = defineService({
  configuration,
  async assemble(kit, config) {
    const { db, kafka, log, outbox } = kit
    const ring = new KeyRing({
      current: config.encryptionKey,
      previous: config.previousEncryptionKeys,
      purpose: 'keys of domains',
    })
    const timers = kit.use(new Timers<DomainTimers>({ db, redis: config.redis, log }))
    const applying = { outbox, installation: config.installation }
    const certificates = openCertificates({ kit, timers, ring, applying }, config.certificates)
    kit.use(new KeyRotation({ db, ring, log }))
    kit.use(new ProofSweeper({ db, log }))
    kit.use(new CheckSweeper({ db, log, timers }))
    const tenancy = kit.use(openTenancy({ kafka, db, log, outbox, timers, certificates }))
    await openRoutes(kit, config, { ring, timers, certificates, tenancy })
  },
})

if (import.meta.main) await runService(service)
