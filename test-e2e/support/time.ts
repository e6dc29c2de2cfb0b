import type { StoringName } from '@restante/contracts/vocabulary'
import pg from 'pg'
import type { Endpoints } from '../stack/endpoints.ts'

/** Makes the scheduled work of a service due now, instead of waiting for minutes or hours. */
export function letTimePass(endpoints: Endpoints, service: StoringName): Promise<void> {
  return change(endpoints, service, 'update timers set due_at = now() where due_at > now()')
}

/** Moves code mails a minute into the past, so that each human may be mailed another code. */
export function letCodesBeMailed(endpoints: Endpoints): Promise<void> {
  return change(endpoints, 'gateway', "update code_mails set created_at = created_at - interval '61 s'")
}

/** Services that lease work, and the tables with the leases. */
export type Leasing = 'mail-ingest' | 'mail-send' | 'webhooks-dispatcher'

/** Expires the leases of a dead process, which would expire on their own within 90 seconds. */
export function letLeasesEnd(endpoints: Endpoints, service: Leasing): Promise<void> {
  const table = service === 'mail-ingest' ? 'inbound' : 'timers'
  return change(endpoints, service, `update ${table} set leased_until = now() where leased_until > now()`)
}

async function change(endpoints: Endpoints, service: StoringName, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: endpoints.databases[service] })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
