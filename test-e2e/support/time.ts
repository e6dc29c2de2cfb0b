import type { ServiceName } from '@restante/contracts'
import pg from 'pg'
import type { Place } from '../stack/place.ts'

/** Makes what a service will do later due now: waits of minutes and hours pass at once. */
export function letTimePass(place: Place, service: ServiceName): Promise<void> {
  return change(place, service, 'update timers set due_at = now() where due_at > now()')
}

/** A minute passes for the humans of agents: each may be mailed another code. */
export function letCodesBeMailed(place: Place): Promise<void> {
  return change(place, 'gateway', "update code_mails set created_at = created_at - interval '61 s'")
}

/** Services that lease work, and the table that holds the leases. */
export type Leasing = 'mail-ingest' | 'mail-send' | 'webhooks-dispatcher'

/** What a process that is gone had taken for itself is free again, as it would be by itself within 90 seconds. */
export function letLeasesEnd(place: Place, service: Leasing): Promise<void> {
  const table = service === 'mail-ingest' ? 'inbound' : 'timers'
  return change(place, service, `update ${table} set leased_until = now() where leased_until > now()`)
}

async function change(place: Place, service: ServiceName, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: place.databases[service] })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
