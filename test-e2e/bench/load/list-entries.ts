import pg from 'pg'
import type { Endpoints } from '../../stack/endpoints.ts'

const OWNED = `
insert into list_entries (id, tier, scope_id, organization_id, direction, type, entry, entry_type, read_only, reason)
select gen_random_uuid(), 'organization', $1, $1, 'send', 'block', 'listed-' || n || '@listed.example', 'email', true, 'bounced'
  from generate_series(1, $2::int) n`
const PROJECTED = `
insert into list_entries (id, organization_id, tier, scope_id, direction, type, entry, version)
select gen_random_uuid(), $1, 'organization', $1, 'receive', 'block', 'listed-' || n || '@listed.example', 1
  from generate_series(1, $2::int) n`

/** An address that the first entry blocks. */
export const LISTED = 'listed-1@listed.example'

/** Fills the block lists of an organization: those for sending at their owner, those for receiving in the mailbox. */
export async function fillLists({ databases }: Endpoints, organizationId: string, entries: number): Promise<void> {
  for (const [service, statement] of [['mail-send', OWNED] as const, ['mail-ingest', PROJECTED] as const]) {
    const client = new pg.Client({ connectionString: databases[service] })
    await client.connect()
    try {
      await client.query('delete from list_entries where organization_id = $1', [organizationId])
      await client.query(statement, [organizationId, entries])
      await client.query('vacuum analyze list_entries')
    } finally {
      await client.end()
    }
  }
}
