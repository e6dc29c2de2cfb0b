import { defineService, runService } from '@restante/kit'
import { ExpirySweeper } from '@restante/service/database'
import { Ranking } from './catalog/ranks.ts'
import { configuration } from './config.ts'
import { openRoutes } from './open-routes.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'
import { SWEEPS } from './tenancy/sweeper.ts'

/** Sign-in of inboxes to third-party apps: the catalog, accounts, the OpenID provider and its pages. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    const { db, kafka, log } = kit
    kit.use(new Ranking({ db, log }))
    kit.use(new ExpirySweeper({ db, log, name: 'sweeper of expired sign-ins', sweeps: SWEEPS }))
    const tenancy = kit.use(openTenancy({ kafka, db, log }))
    openRoutes(kit, config, tenancy)
  },
})

if (import.meta.main) await runService(service)
