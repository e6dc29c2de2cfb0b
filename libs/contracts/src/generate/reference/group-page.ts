import type { OperationGroup } from '../../operations/groups.ts'
import { pathsOf } from '../../operations/table.ts'
import { type Json, member } from '../parts/components.ts'
import { anchor, NOTICE, page, table } from '../parts/markdown.ts'
import { operationSection } from './operation-section.ts'
import { schemaTable } from './schema-table.ts'
import { alternativesOf, typeText } from './schema-text.ts'

/** The page of a group of operations. @param openapi the document of the API. */
export function groupPage(group: OperationGroup, openapi: Json): string {
  const sections = group.operations.map((operation) => operationSection(operation, openapi))
  return page([
    `# ${group.title}`,
    NOTICE,
    `${group.summary === group.title ? '' : `${group.summary}. `}The [overview](index.md) has what all operations have in common, and [errors](../errors.md) what each code means.`,
    table(
      ['Operation', 'Request', 'What it does'],
      group.operations.map((operation) => [
        `[\`${operation.id}\`](#${anchor(operation.id)})`,
        `\`${operation.method} ${pathsOf(operation)[0]?.path}\``,
        operation.summary,
      ]),
    ),
    ...sections.map((section) => section.trimEnd()),
    schemaSections(sections.join('\n'), openapi),
  ])
}

/** The named schemas that the text links to, and those that they link to. */
function schemaSections(text: string, openapi: Json): string | undefined {
  const schemas = member(member(openapi, 'components'), 'schemas')
  const byAnchor = new Map(Object.keys(schemas).map((name) => [anchor(name), name]))
  const shown = new Map<string, string>()
  const add = (from: string) => {
    for (const [, target = ''] of from.matchAll(/\]\(#([a-z0-9_-]+)\)/g)) {
      const name = byAnchor.get(target)
      if (name === undefined || shown.has(name)) continue
      shown.set(name, '')
      const section = schemaSection(name, member(schemas, name))
      shown.set(name, section)
      add(section)
    }
  }
  add(text)
  if (shown.size === 0) return undefined
  const sections = [...shown].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, section]) => section)
  return ['## Schemas', ...sections].join('\n\n')
}

function schemaSection(name: string, schema: Json): string {
  const description = typeof schema['description'] === 'string' ? schema['description'] : undefined
  const members = schemaTable(schema)
  const named = alternativesOf(schema).length > 0 || members === '' ? `${typeText(schema)}.` : undefined
  return page([`### ${name}`, description, members === '' ? named : members]).trimEnd()
}
