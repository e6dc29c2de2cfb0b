import type { ServicesDocument } from './document.ts'
import { type DocumentedValue, flat } from './values.ts'

/** The README of the chart: the text with the tables that follow from values and services, at the lines that name them. */
export function readme(text: string, values: readonly DocumentedValue[], document: ServicesDocument): string {
  const tables: Readonly<Record<string, string>> = {
    values: valuesTables(values),
    secrets: secretsTable(document),
    connections: connectionsTable(document),
    required: requiredTable(document),
  }
  return text.replaceAll(/^<!-- table: (\w+) -->$/gm, (_, name: string) => {
    const found = tables[name]
    if (found === undefined) throw new Error(`helm/generate/readme.md names the unknown table ${name}`)
    return found
  })
}

/** One table for each group of the first level, the values without a group first. */
function valuesTables(values: readonly DocumentedValue[]): string {
  const single = values.filter(({ children }) => children.length === 0)
  const groups = values.filter(({ children }) => children.length > 0)
  const sections = groups.map(({ path, meaning, children }) => {
    const intro = meaning === '' ? [] : [meaning]
    return [`### \`${path}\``, ...intro, table(['Value', 'Default', 'Meaning'], rowsOf(children))].join('\n\n')
  })
  return [table(['Value', 'Default', 'Meaning'], rowsOf(single)), ...sections].join('\n\n')
}

function rowsOf(values: readonly DocumentedValue[]): string[][] {
  return flat(values)
    .filter(({ meaning, children }) => children.length === 0 || meaning !== '')
    .map(({ path, children, fallback, meaning }) => [
      `\`${path}\``,
      children.length > 0 ? '' : `\`${shown(path, fallback)}\``,
      meaning,
    ])
}

function shown(path: string, fallback: unknown): string {
  return path === 'services' ? 'see values.yaml' : JSON.stringify(fallback)
}

/** Settings without which nothing starts. */
function requiredTable({ services }: ServicesDocument): string {
  const names = new Map<string, string>()
  for (const { variables } of Object.values(services))
    for (const [name, { required, confidential, meaning }] of Object.entries(variables))
      if (required && !confidential && name !== 'BLOB_STORE' && !name.endsWith('_URL')) names.set(name, meaning)
  const all = [
    ['`PUBLIC_URL`', services['gateway']?.variables['PUBLIC_URL']?.meaning ?? ''],
    ['`KAFKA_BROKERS`', services['gateway']?.variables['KAFKA_BROKERS']?.meaning ?? ''],
    ...[...names].map(([name, meaning]) => [`\`${name}\``, meaning]),
  ]
  return table(['Setting', 'Meaning'], all)
}

function secretsTable({ services }: ServicesDocument): string {
  const rows = Object.entries(services).map(([service, { variables }]) => {
    const named = (isRequired: boolean) =>
      Object.entries(variables)
        .filter(([, { confidential, required = false }]) => confidential !== undefined && required === isRequired)
        .map(([name]) => `\`${name}\``)
        .join(', ')
    return [`\`${service}\``, named(true), named(false)]
  })
  return table(['Service', 'Required', 'Optional'], rows)
}

function connectionsTable({ services }: ServicesDocument): string {
  const rows = Object.entries(services).map(([service, { calls, calledBy, uses, groups, writes }]) => [
    `\`${service}\``,
    calledBy.join(', '),
    calls.join(', '),
    Object.entries(uses)
      .filter(([, isUsed]) => isUsed)
      .map(([facility]) => facility)
      .join(', '),
    [...new Set(groups.flatMap(({ topics }) => topics))].join(', '),
    writes.join(', '),
  ])
  return table(['Service', 'Called by', 'Calls', 'Uses', 'Reads', 'Writes'], rows)
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heading), `|${heading.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}
