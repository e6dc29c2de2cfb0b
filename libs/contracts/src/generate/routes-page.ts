import { INTERNAL_PERMISSIONS, PERMISSIONS, tiersOfPermission } from '../access/permissions.ts'
import { type InternalOperationDefinition, type OperationDefinition, PREFIX } from '../definition/operation.ts'
import { internalOperations } from '../internal/table.ts'
import { operations } from '../operations/table.ts'
import { TIERS, type Tier } from '../vocabulary/tiers.ts'
import { ACCESS_NOTES, accessTable } from './access-table.ts'
import { NOTICE, table } from './parts/markdown.ts'
import { permissionText } from './parts/permission-text.ts'

/** The route table, and which credentials can use which permission. */
export function routesPage(): string {
  const all = Object.values<OperationDefinition>(operations)
  return [
    '# Routes and permissions',
    NOTICE,
    `A path stands below each prefix that its row names: ${TIERS.map((tier) => `\`${PREFIX[tier]}\` (${tier})`).join(', ')}. Tiers are the credentials that may call it at all; a credential acts within its own scope on every prefix. Permissions marked \\* cannot be granted.`,
    table(
      ['Method', 'Path', 'Prefixes', 'Operation', 'Permission', 'Tiers', 'Success', 'Idempotency-Key', 'Service'],
      all.map(routeRow),
    ),
    '## Who may call what',
    ACCESS_NOTES,
    accessTable(all),
    '## Permissions by tier',
    'A key may store a permission that its tier cannot use; it has no effect.',
    table(
      ['Permission', ...TIERS, 'Demanded by'],
      [...PERMISSIONS, ...INTERNAL_PERMISSIONS].map((name) => permissionRow(name, all)),
    ),
    '## Calls between services',
    'Never offered by the gateway; each needs the token of a service that is listed.',
    table(
      ['Operation', 'Path', 'Callers', 'What'],
      Object.values<InternalOperationDefinition>(internalOperations).map((operation) => [
        `\`${operation.id}\``,
        `\`${operation.path}\``,
        operation.callers.join(', '),
        operation.summary,
      ]),
    ),
    '',
  ].join('\n\n')
}

function routeRow(operation: OperationDefinition): string[] {
  return [
    operation.method,
    `\`${operation.path || '(the prefix itself)'}\``,
    operation.prefixes.join(', '),
    `\`${operation.id}\`: ${operation.summary}`,
    permissionText(operation),
    operation.tiers.join(', '),
    String(operation.status),
    operation.idempotencyKey ? 'yes' : '',
    operation.service,
  ]
}

function permissionRow(
  name: (typeof PERMISSIONS)[number] | (typeof INTERNAL_PERMISSIONS)[number],
  all: readonly OperationDefinition[],
): string[] {
  const usable = tiersOfPermission(name)
  const demanding = all.filter(
    ({ permission, signedPermission, alsoNeeds = [] }) =>
      permission === name || signedPermission === name || alsoNeeds.some((also) => also === name),
  )
  const mark = INTERNAL_PERMISSIONS.some((internal) => internal === name) ? '\\*' : ''
  return [
    `\`${name}\`${mark}`,
    ...TIERS.map((tier: Tier) => (usable.includes(tier) ? 'yes' : '')),
    demanding.map(({ id }) => `\`${id}\``).join(', '),
  ]
}
