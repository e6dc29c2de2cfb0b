import { Readable } from 'node:stream'
import { notFound } from '@restante/service/errors'
import { type Cursors, type Handlers, type InternalHandlers, KeysetPage } from '@restante/service/http'
import { findSigningKey } from '../keys/store.ts'
import { expectedRecords } from '../records/expected.ts'
import { domainDocument, domainItem } from '../registrations/document.ts'
import { stateOf } from '../registrations/events.ts'
import { countDomains, findDomain, findEverywhere, findOwnDomain, listAll, listDomains } from '../registrations/find.ts'
import { scopeOf } from '../registrations/scope.ts'
import { type DomainRow, publishedKeyOf } from '../registrations/store.ts'
import { removeDomain } from '../removal/remove.ts'
import { lockForChange } from '../status/store.ts'
import { zoneFile } from '../zone-file/zone-file.ts'
import { type CreateOptions, createDomain } from './create.ts'
import { findInboxDomain } from './inbox-domain.ts'
import { updateDomain } from './update.ts'

export interface DomainRouteOptions extends CreateOptions {
  readonly cursors: Cursors
}

type Operations = Omit<Handlers<'domains-dns'>, 'domains.verify' | 'domains.getSetupLink'>

/** The operations on domains but those that ask DNS about them. */
export function domainRoutes(deps: DomainRouteOptions): Operations {
  const { db, cursors, installation } = deps
  const shown = async (row: DomainRow) => domainDocument(row, await publishedKeyOf(db, row.uid), installation)
  return {
    'domains.create': async ({ caller, confirmCaller, body }) =>
      shown(await createDomain(deps, caller, confirmCaller, body)),

    'domains.list': async ({ caller, query }) => {
      const scope = scopeOf(caller)
      const page = new KeysetPage(cursors, { operation: 'domains.list', within: scope, query })
      const position = (row: DomainRow) => ({ time: row.created_at, id: row.name })
      const { items, members } = page.answer(await listDomains(db, scope, page), position, domainItem)
      return { ...members, domains: items }
    },

    'domains.get': async ({ caller, params }) => shown(await findDomain(db, caller, params.domain_id)),

    'domains.update': async ({ caller, params, body }) =>
      shown(await updateDomain(deps, caller, params.domain_id, body)),

    'domains.delete': async ({ caller, params }) => {
      const { uid } = await findOwnDomain(db, caller, params.domain_id)
      await db.transaction(async (tx) => {
        const row = await lockForChange(tx, uid)
        if (!row) throw notFound('Domain')
        await removeDomain(tx, deps, row)
      })
      return undefined
    },

    'domains.getZoneFile': async ({ caller, params }) => {
      const row = await findDomain(db, caller, params.domain_id)
      const body = Buffer.from(zoneFile(expectedRecords(row, await publishedKeyOf(db, row.uid), installation)))
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        'content-length': String(body.length),
        'content-disposition': `attachment; filename="${row.name}.zone"`,
      }
      return { body: Readable.from([body]), headers }
    },
  }
}

type Internal = Pick<
  InternalHandlers<'domains-dns'>,
  | 'domains-dns.getSigningKey'
  | 'domains-dns.findInboxDomain'
  | 'domains-dns.countDomains'
  | 'domains-dns.findRegistrations'
  | 'domains-dns.snapshotDomains'
>

/** What other services ask about domains. */
export function domainInternalRoutes({
  db,
  ring,
  installation,
}: Pick<DomainRouteOptions, 'db' | 'ring' | 'installation'>): Internal {
  return {
    'domains-dns.getSigningKey': async ({ body }) => ({ key: await findSigningKey(db, ring, body.domain_uid) }),

    'domains-dns.findInboxDomain': ({ body }) => findInboxDomain(db, body, installation),

    'domains-dns.countDomains': async ({ body }) => ({
      count: await countDomains(db, body.organization_id, body.pod_id),
    }),

    'domains-dns.findRegistrations': async ({ body }) => ({
      domains: (await findEverywhere(db, body.names)).map((row) => stateOf(row, installation)),
    }),

    'domains-dns.snapshotDomains': async ({ body: { after, limit } }) => {
      const rows = await listAll(db, after, limit)
      return {
        domains: rows.map((row) => stateOf(row, installation)),
        next: rows.length < limit ? undefined : rows.at(-1)?.uid,
      }
    },
  }
}
