import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Configuration, type DescribedVariable, describeVariables } from '@restante/kit'
import { z } from 'zod'
import { writeOrCheck } from './write-or-check.ts'

/**
 * Writes docs/configuration.md from the environment that each service declares; with `--check` it only reports whether
 * the document is up to date. The table of services comes first, then the variables of all services, then those of all that
 * have a database, then each service's own.
 */

const root = path.resolve(import.meta.dirname, '../..')
const target = path.join(root, 'docs/configuration.md')

async function variablesOf(service: string): Promise<readonly DescribedVariable[]> {
  const config: unknown = await import(path.join(root, 'services', service, 'src/config.ts'))
  const { configuration } = z.object({ configuration: z.instanceof(Configuration) }).parse(config)
  return describeVariables(configuration)
}

/** What a service connects to, by the variables that name it. */
const ENGINES = {
  DATABASE_URL: 'PostgreSQL',
  KAFKA_BROKERS: 'Kafka',
  REDIS_URL: 'Redis',
  BLOB_STORE: 'object store',
  API_URL: 'the public API',
}

const manifest = z.object({ description: z.string() })

/** One row of the table of services: its port, what it does, what it needs. */
async function serviceRow(service: string, variables: readonly DescribedVariable[]): Promise<string> {
  const { description } = manifest.parse(
    JSON.parse(await readFile(path.join(root, 'services', service, 'package.json'), 'utf8')),
  )
  const of = (name: string) => variables.find((variable) => variable.name === name)
  const engines = Object.entries(ENGINES).flatMap(([name, engine]) => {
    const variable = of(name)
    return variable === undefined
      ? []
      : [variable.required || variable.fallback !== undefined ? engine : `${engine} (optional)`]
  })
  return `| ${service} | ${of('PORT')?.fallback ?? ''} | ${description} | ${engines.join(', ')} |`
}

function table(variables: readonly DescribedVariable[]): string {
  const rows = variables.map(({ name, required, fallback, meaning }) => {
    const value = required ? '**required**' : fallback ? `\`${fallback}\`` : ''
    return `| \`${name}\` | ${value} | ${meaning.replaceAll('|', '\\|')} |`
  })
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n')
}

/** The variables that some services all have, with the same default and meaning. */
function sameIn(services: readonly (readonly DescribedVariable[])[]): readonly DescribedVariable[] {
  return (services[0] ?? []).filter((variable) =>
    services.every((variables) => variables.some((other) => JSON.stringify(other) === JSON.stringify(variable))),
  )
}

async function document(): Promise<string> {
  const services = (await readdir(path.join(root, 'services'))).sort()
  const own = await Promise.all(services.map(variablesOf))
  const storing = own.filter((variables) => variables.some(({ name }) => name === 'DATABASE_URL'))
  const sameEverywhere = sameIn(own)
  const everywhere = new Set(sameEverywhere.map(({ name }) => name))
  const sameWhereStored = sameIn(storing).filter(({ name }) => !everywhere.has(name))
  const whereStored = new Set([...everywhere, ...sameWhereStored.map(({ name }) => name)])
  const rows = await Promise.all(services.map((service, index) => serviceRow(service, own[index] ?? [])))
  const sections = services.map((service, index) => {
    const all = own[index] ?? []
    const shared = storing.includes(all) ? whereStored : everywhere
    const variables = all.filter(({ name }) => !shared.has(name))
    return `## ${service}\n\n${table(variables)}`
  })
  return `${[
    '# Configuration',
    'Services read these environment variables once, at start. A wrong or missing variable ends the process with one message that names all of them. Durations are written `250ms`, `5s`, `15m`, `72h`, `30d`; flags `true` or `false`; lists with commas. This page is generated from the code by `npm run generate:docs`.',
    `## Services\n\n${['| Service | Port | What it is | Connects to |', '|---|---|---|---|', ...rows].join('\n')}`,
    `## Every service\n\n${table(sameEverywhere)}\n\nOpenTelemetry traces are on when the standard variable \`OTEL_EXPORTER_OTLP_ENDPOINT\` is set.`,
    `## Every service with a database\n\n${table(sameWhereStored)}`,
    ...sections,
  ].join('\n\n')}\n`
}

await writeOrCheck(target, await document())
