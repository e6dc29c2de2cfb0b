import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Configuration } from '@restante/kit'
import { z } from 'zod'

/**
 * Writes docs/configuration.md from the environment that each service declares; with `--check` it only reports whether
 * the document is up to date. The variables of all services come first, then each service's own.
 */

const root = path.resolve(import.meta.dirname, '../..')
const target = path.join(root, 'docs/configuration.md')

const declared = z.object({
  properties: z.record(
    z.string(),
    z.looseObject({ description: z.string().optional(), default: z.unknown().optional() }),
  ),
  required: z.array(z.string()).default([]),
})

interface Variable {
  readonly name: string
  readonly required: boolean
  readonly fallback: string
  readonly meaning: string
}

async function variablesOf(service: string): Promise<Variable[]> {
  const config: unknown = await import(path.join(root, 'services', service, 'src/config.ts'))
  const { configuration } = z.object({ configuration: z.instanceof(Configuration) }).parse(config)
  const { properties, required } = declared.parse(
    z.toJSONSchema(configuration.variables, { io: 'input', unrepresentable: 'any' }),
  )
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: required.includes(name),
    fallback: property.default === undefined ? '' : String(property.default),
    meaning: property.description ?? '',
  }))
}

function table(variables: readonly Variable[]): string {
  const rows = variables.map(({ name, required, fallback, meaning }) => {
    const value = required ? '**required**' : fallback === '' ? '' : `\`${fallback}\``
    return `| \`${name}\` | ${value} | ${meaning.replaceAll('|', '\\|')} |`
  })
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n')
}

async function document(): Promise<string> {
  const services = (await readdir(path.join(root, 'services'))).sort()
  const own = await Promise.all(services.map(variablesOf))
  const sameEverywhere = (own[0] ?? []).filter((variable) =>
    own.every((variables) => variables.some((other) => JSON.stringify(other) === JSON.stringify(variable))),
  )
  const shared = new Set(sameEverywhere.map(({ name }) => name))
  const sections = services.map((service, index) => {
    const variables = (own[index] ?? []).filter(({ name }) => !shared.has(name))
    return `## ${service}\n\n${table(variables)}`
  })
  return `${[
    '# Configuration',
    'Services read these environment variables once, at start. A wrong or missing variable ends the process with one message that names all of them. Durations are written `250ms`, `5s`, `15m`, `72h`, `30d`; flags `true` or `false`; lists with commas. This page is generated from the code by `npm run generate:docs`.',
    `## Every service\n\n${table(sameEverywhere)}\n\nOpenTelemetry traces are on when the standard variable \`OTEL_EXPORTER_OTLP_ENDPOINT\` is set.`,
    ...sections,
  ].join('\n\n')}\n`
}

const fresh = await document()
if (process.argv.includes('--check')) {
  const current = await readFile(target, 'utf8').catch(() => '')
  if (current !== fresh) {
    process.stderr.write('docs/configuration.md is stale; run npm run generate:docs\n')
    process.exitCode = 1
  }
} else {
  await writeFile(target, fresh)
}
