import type { ServiceName } from '@restante/contracts'
import pg from 'pg'
import type { Place } from '../stack/place.ts'

/** Makes what a service will do later due now: waits of minutes and hours pass at once. */
export async function letTimePass(place: Place, service: ServiceName): Promise<void> {
  const client = new pg.Client({ connectionString: place.databases[service] })
  await client.connect()
  try {
    await client.query('update timers set due_at = now() where due_at > now()')
  } finally {
    await client.end()
  }
}
