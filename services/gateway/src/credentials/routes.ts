import type { OperationId } from '@restante/contracts/operations'
import { notFound } from '@restante/service/errors'
import { type Cursors, type DocumentHandler, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { credentialActor } from '../audit/actor.ts'
import type { Credential } from '../generated/prisma/client.ts'
import { rightsFromRow, sameRights } from '../identity/rights.ts'
import { write } from '../organizations/writes.ts'
import { byCreation } from '../storage/keyset-condition.ts'
import { type CreateOptions, createCredential } from './create.ts'
import { apiKeyDocument } from './documents.ts'
import { grantForPublicKeyUpdate, grantForSignInKeyUpdate, grantForUpdate } from './grants.ts'
import { accept } from './refusals.ts'
import {
  changeCredential,
  findCaller,
  findCredential,
  listCredentials,
  lockCredential,
  revokeCredentials,
} from './store.ts'

export interface CredentialOptions extends CreateOptions {
  readonly cursors: Cursors
}

type Ids = Exclude<Extract<OperationId, `apiKeys.${string}`>, 'apiKeys.revokeSignIn'>

export function credentialRoutes(deps: CredentialOptions): { readonly [Id in Ids]: DocumentHandler<Id> } {
  const { db, cursors, events } = deps
  return {
    'apiKeys.list': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'apiKeys.list', within: scope, query })
      const rows = await listCredentials(db, scope, query.type, page)
      const { items, members } = page.answer(rows, byCreation, apiKeyDocument)
      return { ...members, api_keys: items }
    },

    'apiKeys.get': async ({ caller, params }) => {
      const row = await findCredential(db, scopeFilter(caller), params.api_key_id)
      if (row === undefined) throw notFound('API key')
      return apiKeyDocument(row)
    },

    'apiKeys.create': (request) => createCredential(deps, request.caller, request.body, credentialActor(request)),

    'apiKeys.update': async (request) => {
      const { caller, params, body } = request
      const row = await write(deps, caller, async (tx) => {
        const target = await lockCredential(tx, scopeFilter(caller), params.api_key_id)
        if (target === undefined) throw notFound('API key')
        const editor = rightsFromRow(await findCaller(tx, caller))
        const before = rightsFromRow(target)
        const rights = accept(updateOf(target)(editor, before, body.permissions))
        const name = body.name ?? target.name
        if (name === target.name && sameRights(rights, before)) return target
        return changeCredential(tx, events, target, { name, rights }, credentialActor(request))
      })
      return apiKeyDocument(row)
    },

    'apiKeys.delete': async (request) => {
      const { caller, params } = request
      await write(deps, caller, async (tx) => {
        const target = await lockCredential(tx, scopeFilter(caller), params.api_key_id)
        if (target === undefined) throw notFound('API key')
        await revokeCredentials(tx, events, { id: target.id }, { actor: credentialActor(request), now: new Date() })
      })
    },
  }
}

function updateOf({ type, signInStatus }: Credential) {
  if (signInStatus !== null) return grantForSignInKeyUpdate
  return type === 'public_key' ? grantForPublicKeyUpdate : grantForUpdate
}
