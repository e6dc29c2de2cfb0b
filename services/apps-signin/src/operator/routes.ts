import { isUuid } from '@restante/contracts/vocabulary'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { deleteSecrets } from '../apps/secrets.ts'
import { slugKey } from '../apps/slugs.ts'
import { findById, lockApp } from '../apps/store.ts'
import { addSecretTo, createApp, removeSecretOf, updateApp } from './change.ts'
import { listSignUpLimits, setSignUpLimit } from './limits.ts'
import { findRegisteredBySlug, listRegistered, registeredApps, removeApp } from './store.ts'

export interface OperatorRouteOptions {
  readonly db: Database
  readonly log: Logger
}

type Internal = Pick<
  InternalHandlers<'apps-signin'>,
  | 'apps-signin.createApp'
  | 'apps-signin.listApps'
  | 'apps-signin.getApp'
  | 'apps-signin.updateApp'
  | 'apps-signin.addSecret'
  | 'apps-signin.removeSecret'
  | 'apps-signin.removeApp'
  | 'apps-signin.setSignUpLimit'
  | 'apps-signin.listSignUpLimits'
>

/** The registration of apps, for the operator's command line. Every change is logged with who asked for it. */
export function operatorRoutes({ db, log }: OperatorRouteOptions): Internal {
  const logged = <C extends { readonly outcome: string }>(
    message: string,
    { app_id: appId, operator }: { readonly app_id: string; readonly operator: string },
    changed: C,
  ): C => {
    if (changed.outcome === 'done') log.info({ appId, operator }, message)
    return changed
  }
  return {
    'apps-signin.createApp': async ({ body }) => logged('app registered', body, await createApp(db, body)),

    'apps-signin.listApps': async ({ body: { after, limit } }) => ({
      apps: await registeredApps(db, await listRegistered(db, after, limit)),
    }),

    'apps-signin.getApp': async ({ body: { app: named } }) => {
      const row = isUuid(named) ? await findById(db, named) : await findRegisteredBySlug(db, slugKey(named))
      const [app] = row ? await registeredApps(db, [row]) : []
      return app ? { app } : {}
    },

    'apps-signin.updateApp': async ({ body }) => logged('app changed', body, await updateApp(db, body)),

    'apps-signin.addSecret': async ({ body }) =>
      logged('secret of app added', body, await addSecretTo(db, body.app_id)),

    'apps-signin.removeSecret': async ({ body }) =>
      logged('secret of app removed', body, await removeSecretOf(db, body.app_id, body.secret_id)),

    'apps-signin.removeApp': async ({ body: { app_id: appId, operator } }) => {
      const removed = await db.transaction(async (tx) => {
        await deleteSecrets(tx, appId, null)
        return removeApp(tx, appId)
      })
      if (removed) log.info({ appId, operator }, 'app removed')
      return { removed }
    },

    'apps-signin.setSignUpLimit': async ({ body: { app_id: appId, organization_id, limit, operator } }) => {
      const found = await db.transaction(async (tx) => {
        if (!(await lockApp(tx, appId))) return false
        await setSignUpLimit(tx, appId, organization_id, limit)
        return true
      })
      if (found) log.info({ appId, organizationId: organization_id, limit, operator }, 'sign-up limit of app set')
      return { found }
    },

    'apps-signin.listSignUpLimits': async ({ body: { app_id, after, limit } }) => ({
      limits: await listSignUpLimits(db, app_id, after, limit),
    }),
  }
}
