import { randomUUID } from 'node:crypto'
import type { Queryable } from '@restante/service/database'
import { countRows, queryRows } from '@restante/testkit'
import { INBOX_TABLES } from '../../src/tenancy/tables.ts'
import type { TestInbox } from './tenant.ts'

/** Values of the columns by which rows are found; the others of a row are whatever their column requires. */
interface Given {
  readonly appId: string
  readonly inbox: TestInbox
  /** SQL of the time at which the rows expire. */
  readonly expires?: string
}

type Column = { readonly name: string; readonly type: string }

const REQUIRED = `select column_name as name, udt_name as type from information_schema.columns
  where table_name = $1 and (is_nullable = 'NO' and column_default is null or column_name = any($2))`
const PLACED = ['organization_id', 'pod_id', 'inbox_uid', 'address', 'app_id', 'expires_at', 'used_at']

/** Stores a row of an inbox in every table that has rows of inboxes, accounts excepted, with its required columns. */
export async function fillTables(db: Queryable, given: Given): Promise<void> {
  for (const table of INBOX_TABLES) if (table !== 'accounts') await insertRow(db, table, given)
}

async function insertRow(db: Queryable, table: string, { appId, inbox, expires = "now() + interval '1 hour'" }: Given) {
  const columns = await queryRows<Column>(db, REQUIRED, table, PLACED)
  const known: Readonly<Record<string, string>> = {
    organization_id: `'${inbox.organization_id}'`,
    pod_id: `'${inbox.pod_id}'`,
    inbox_uid: `'${inbox.inbox_uid}'`,
    address: `'${inbox.address}'`,
    app_id: `'${appId}'`,
    expires_at: expires,
    used_at: expires,
  }
  const values = columns.map(({ name, type }) => known[name] ?? anyValue(type))
  await queryRows(db, `insert into ${table} (${columns.map(({ name }) => name).join()}) values (${values.join()})`)
}

function anyValue(type: string): string {
  const id = randomUUID()
  if (type === 'uuid' || type === 'text') return `'${id}'`
  if (type === 'bytea') return `sha256('${id}')`
  if (type === 'bool') return 'false'
  if (type === '_text') return "'{}'"
  return type.startsWith('timestamp') ? 'now()' : '1'
}

/** The number of rows of each table that has one where a column has a value. */
export async function rowsWhere(
  db: Queryable,
  column: 'inbox_uid' | 'organization_id',
  value: string,
  tables: readonly string[] = INBOX_TABLES,
): Promise<Readonly<Record<string, number>>> {
  const counted = await Promise.all(
    tables.map(async (table) => [table, await countRows(db, `${table} where ${column} = $1`, value)] as const),
  )
  return Object.fromEntries(counted.filter(([, count]) => count > 0))
}
