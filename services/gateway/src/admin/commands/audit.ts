import type { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import type { AuditEntry } from '../../generated/prisma/client.ts'
import type { Console } from '../output/console.ts'
import { auditDocument } from '../output/documents.ts'
import { printList } from '../output/list.ts'
import { count, JSON_OPTION, past } from './arguments.ts'

const DEFAULT_LIMIT = 50

export function addAuditCommand(root: Command, console: Console): void {
  root
    .command('audit')
    .description(
      'changes of keys and organizations, and sign-ins to apps, newest first; deleted organizations included',
    )
    .option('--organization <id>', 'only entries of this organization')
    .option('--since <moment>', 'only entries since then: a date and time, or an age such as 90m, 12h, 7d', past)
    .option('--limit <n>', 'maximum number of entries', count, DEFAULT_LIMIT)
    .option(...JSON_OPTION)
    .action(async ({ organization: organizationId, since, limit, json: asJson }) => {
      const headings = ['AT', 'ORGANIZATION', 'ACTION', 'BY', 'KEY', 'NAME', 'WHAT']
      const form = asJson ? { document: auditDocument } : { headings, cells: cellsOf, none: 'No entries.' }
      await printList(console, console.operator().audit({ organizationId, since }, limit), form)
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

/** The scope of the key, and the changed values: `inbox_limit 3 > 10`. */
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
