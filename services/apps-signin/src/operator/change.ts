import { isDeepStrictEqual } from 'node:util'
import type { AppSettings, InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import type { Database, Tx } from '@restante/service/database'
import { addSecret, deleteSecrets } from '../apps/secrets.ts'
import { type AppRow, lockApp } from '../apps/store.ts'
import { type Refusal, refusalsOf } from './rules.ts'
import { findAny, isSlugTaken, lockRegistrations, registeredApps, settingsOf, storeApp } from './store.ts'

type Changed = InternalResponseOf<'apps-signin.createApp'>

/**
 * Registers an app. Its secret is answered once. A repetition with the same settings changes nothing and answers the app
 * without a secret, because the stored hash does not give it back, and another one would end one that may be in use: an
 * operator whose answer was lost adds a secret and removes the first.
 */
export function createApp(db: Database, { app_id: id, settings }: InternalRequestOf<'apps-signin.createApp'>) {
  return db.transaction(async (tx): Promise<Changed> => {
    await lockRegistrations(tx)
    const known = await findAny(tx, id)
    if (known) {
      const isSame = !known.removed && known.kind === 'registered' && isDeepStrictEqual(settingsOf(known), settings)
      return isSame ? done(tx, known) : refused({ setting: 'app_id', message: takenBecause(known.removed) })
    }
    const refusals = [...refusalsOf(settings), ...(await slugRefusals(tx, id, settings))]
    if (refusals.length > 0) return refused(...refusals)
    const row = await storeApp(tx, 'insert', id, settings)
    return done(tx, row, settings.token_endpoint_auth_method === 'none' ? undefined : await addSecret(tx, id))
  })
}

/** Changes settings of an app; those that are absent stay. */
export function updateApp(db: Database, { app_id: id, settings }: InternalRequestOf<'apps-signin.updateApp'>) {
  return changeApp(db, id, async (tx, row) => {
    const before = settingsOf(row)
    const after = merged(before, settings)
    const refusals = [...refusalsOf(after, before), ...(await slugRefusals(tx, id, after))]
    if (refusals.length > 0) return refused(...refusals)
    return done(tx, isDeepStrictEqual(before, after) ? row : await storeApp(tx, 'update', id, after))
  })
}

/** Gives an app another secret, and ends the older of two. */
export function addSecretTo(db: Database, id: string): Promise<Changed> {
  return changeApp(db, id, async (tx, row) => {
    if (row.token_endpoint_auth_method === 'none') {
      const message = 'The app authenticates without a secret; set client_secret_basic or client_secret_post first'
      return refused({ setting: 'token_endpoint_auth_method', message })
    }
    const secret = await addSecret(tx, id)
    return done(tx, row, secret)
  })
}

/** Ends a secret of an app; one that has ended already is no error. */
export function removeSecretOf(db: Database, id: string, secretId: string): Promise<Changed> {
  return changeApp(db, id, async (tx, row) => {
    await deleteSecrets(tx, id, secretId)
    return done(tx, row)
  })
}

function changeApp(db: Database, id: string, change: (tx: Tx, row: AppRow) => Promise<Changed>): Promise<Changed> {
  return db.transaction(async (tx): Promise<Changed> => {
    await lockRegistrations(tx)
    const row = await lockApp(tx, id)
    return row ? change(tx, row) : { outcome: 'unknown' }
  })
}

async function done(tx: Tx, row: AppRow, secret?: string): Promise<Changed> {
  const [app] = await registeredApps(tx, [row])
  if (app === undefined) throw new Error('one row makes one app')
  return { outcome: 'done', app, ...(secret !== undefined && { client_secret: secret }) }
}

function refused(...refusals: Refusal[]): Changed {
  return { outcome: 'refused', refusals }
}

async function slugRefusals(tx: Tx, id: string, { slug }: AppSettings): Promise<Refusal[]> {
  if (slug === null || !(await isSlugTaken(tx, slug, id))) return []
  return [{ setting: 'slug', message: 'Another app has it, or had it; only letters and digits count' }]
}

function takenBecause(wasRemoved: boolean): string {
  return wasRemoved
    ? 'An app with this id was removed; register it under a new id'
    : 'An app with this id is registered with other settings; change it with an update'
}

/** Settings with those that are given in place of the earlier ones. */
function merged(before: AppSettings, given: Partial<{ [K in keyof AppSettings]: AppSettings[K] | undefined }>) {
  const present = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...before, ...(Object.fromEntries(present) as Partial<AppSettings>) }
}
