import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import pg from 'pg'
import type { Resources } from '../stack/resources.ts'

/** A table of a service, by its columns and constraints, and whether it has rows. */
export interface Table {
  readonly definition: string
  readonly isEmpty: boolean
}

/** The tables of all services, by `<service>.<table>`. */
export type Tables = ReadonlyMap<string, Table>

const TABLES = `select t.tablename as name,
    (select string_agg(concat_ws(' ', column_name, data_type, is_nullable, column_default), ', ' order by column_name)
       from information_schema.columns where table_schema = 'public' and table_name = t.tablename)
    || (select coalesce(string_agg(pg_get_constraintdef(oid), ', ' order by conname), '')
       from pg_constraint where conrelid = ('public.' || quote_ident(t.tablename))::regclass) as definition,
    (xpath('/row/empty/text()', query_to_xml(
       format('select not exists (select from %I) as empty', t.tablename), false, true, '')))[1]::text = 'true' as "isEmpty"
  from pg_tables t where t.schemaname = 'public'`

export async function tablesOf({ databases }: Pick<Resources, 'databases'>): Promise<Tables> {
  const found = new Map<string, Table>()
  for (const service of STORING_SERVICES) {
    const client = new pg.Client({ connectionString: databases[service] })
    await client.connect()
    try {
      const { rows } = await client.query<Table & { name: string }>(TABLES)
      for (const { name, ...table } of rows) found.set(`${service}.${name}`, table)
    } finally {
      await client.end()
    }
  }
  return found
}

/** The tables that were empty when a migration changed them, which shows nothing about rows of the release before. */
export function changedWithoutRows(before: Tables, after: Tables): string[] {
  return [...before]
    .filter(([name, { definition, isEmpty }]) => isEmpty && after.get(name)?.definition !== definition)
    .map(([name]) => name)
}
