import type { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import type { AuditEntry } from '../generated/prisma/client.ts'
import { count, past } from './arguments.ts'
import type { Console } from './console.ts'
import { auditDocument, json } from './documents.ts'
import { Table } from './table.ts'

const DEFAULT_LIMIT = 50

export function addAuditCommand(root: Command, console: Console): void {
  root
    .command('audit')
    .description('who changed keys and organizations, newest first; also of organizations that are gone')
    .option('--organization <id>', 'only what concerns this one')
    .option('--since <moment>', 'not what is older: a date and time, or how long ago, such as 90m, 12h, 7d', past)
    .option('--limit <n>', 'entries at most', count, DEFAULT_LIMIT)
    .option('--json', 'one JSON document a line, for scripts')
    .action(async ({ organization: organizationId, since, limit, json: asJson }) => {
      const table = new Table(['AT', 'ORGANIZATION', 'ACTION', 'BY', 'KEY', 'NAME', 'WHAT'])
      let some = false
      for await (const rows of console.operator().audit({ organizationId, since }, limit)) {
        some = true
        console.print(asJson ? rows.map((row) => json(auditDocument(row))).join('\n') : table.page(rows.map(cellsOf)))
      }
      if (!some && !asJson) console.print('No entries.')
    })
}

function cellsOf(row: AuditEntry): string[] {
  return [
    row.at.toISOString(),
    row.organizationId,
    row.action,
    row.actorId === null ? row.actorKind.replace('_', '-') : `${row.actorKind} ${row.actorId}`,
    row.prefix ?? '-',
    row.name ?? '-',
    whatOf(row),
  ]
}

const facts = z.record(z.string(), z.unknown())
const detailsShape = z.object({ before: facts.optional(), after: facts.optional(), because: z.string().optional() })

/** What the key is bound to, and what became of it: `inbox_limit 3 > 10`. */
function whatOf({ details, tier, podId, inboxUid }: AuditEntry): string {
  const bound = inboxUid !== null ? `inbox ${inboxUid}` : podId !== null ? `pod ${podId}` : tier
  const { before, after, because } = detailsShape.parse(details)
  const changes = Object.entries(after ?? {}).map(([name, value]) =>
    before === undefined ? `${name} ${shown(value)}` : `${name} ${shown(before[name])} > ${shown(value)}`,
  )
  return [bound, because, changes.join(', ')]
    .filter((part) => part !== null && part !== undefined && part !== '')
    .join('; ')
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return Array.isArray(value) ? `[${value.join(' ')}]` : String(value)
}
