import { COMPUTED } from './computed.ts'
import type { DescribedService } from './described-service.ts'
import type { ServicesDocument } from './document.ts'
import { type Schema, schemaOfValue } from './schema-details.ts'
import type { DocumentedValue } from './values.ts'

type Variable = DescribedService['variables'][string]

/**
 * `values.schema.json`: what is in values.yaml and nothing else, and of variables those that services declare and that are
 * no secrets.
 */
export function valuesSchema(values: readonly DocumentedValue[], { services }: ServicesDocument): Schema {
  const workload = values.find(({ path }) => path === 'defaults')
  if (workload === undefined) throw new Error('values.yaml has no defaults')
  const keys = workload.children.map(({ path }) => keyOf(path))
  const special = new Map<string, Schema>([
    ['settings', settings(Object.assign({}, ...Object.values(services).map((service) => service.variables)))],
    ['services', servicesSchema(services, keys)],
    ['defaults', { $ref: '#/definitions/workload' }],
  ])
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart restante',
    ...group(
      values.filter(({ path }) => !special.has(path)),
      [...special],
    ),
    definitions: {
      workload: workloadSchema(workload.children),
      ...Object.fromEntries(
        Object.entries(services).map(([name, { variables }]) => [name, workloadWith(keys, settings(variables))]),
      ),
    },
  }
}

/** Settings and Secrets are those of one service, so there are none that all have by default. */
function workloadSchema(values: readonly DocumentedValue[]): Schema {
  const own = new Set(['defaults.settings', 'defaults.secretName'])
  return group(
    values.filter(({ path }) => !own.has(path)),
    [
      ['settings', { type: 'object', maxProperties: 0 }],
      ['secretName', { const: '' }],
    ],
  )
}

/** An object with these values and no others. `more`: schemas by key that are not those of the values. */
function group(values: readonly DocumentedValue[], more: readonly (readonly [string, Schema])[] = []): Schema & object {
  const own = values.map((value) => [keyOf(value.path), valueSchema(value)] as const)
  // What a chart is given that is a part of another one.
  const root = more.some(([key]) => key === 'services') ? ([['global', { type: 'object' }]] as const) : []
  return {
    type: 'object',
    properties: Object.fromEntries([...own, ...more, ...root]),
    additionalProperties: false,
  }
}

function keyOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function valueSchema({ path, children, fallback, meaning }: DocumentedValue): Schema {
  const schema = children.length > 0 ? group(children) : schemaOfValue(path, fallback)
  return typeof schema === 'boolean' || meaning === '' ? schema : { description: meaning, ...schema }
}

/** Variables of these names, with their values; standard variables of OpenTelemetry, but not that with credentials. */
function settings(variables: Readonly<Record<string, Variable>>): Schema {
  const known = Object.entries(variables).filter(
    ([name, { confidential }]) => confidential === undefined && !COMPUTED.has(name),
  )
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(known.map(([name, variable]) => [name, setting(variable)])),
      OTEL_EXPORTER_OTLP_HEADERS: false,
    },
    patternProperties: { '^OTEL_[A-Z_]+$': { type: ['string', 'integer', 'boolean'] } },
    additionalProperties: false,
  }
}

function setting({ values, meaning }: Variable): Schema {
  if (values === undefined) return { description: meaning, type: ['string', 'integer', 'boolean'] }
  const isFlag = values.includes('true') && values.includes('false')
  return { description: meaning, enum: isFlag ? [...values, true, false] : values }
}

const ROLES = ['smtp', 'pipeline', 'api']

/** The blocks of services; roles of mail-ingest have the values of a service. */
function servicesSchema(services: ServicesDocument['services'], keys: readonly string[]): Schema {
  const blocks = Object.entries(services).map(([name, { variables }]) => {
    if (name !== 'mail-ingest') return [name, reference(name)]
    const roles = Object.fromEntries(ROLES.map((role) => [role, reference(name)]))
    const more = {
      rolesApart: { type: 'boolean' },
      roles: { type: 'object', properties: roles, additionalProperties: false },
    }
    return [name, workloadWith(keys, settings(variables), more)]
  })
  return { type: 'object', properties: Object.fromEntries(blocks), additionalProperties: false }
}

function reference(service: string): Schema {
  return { $ref: `#/definitions/${service}` }
}

/** Draft 7 cannot add to an object without other properties, so names are listed and their schemas referenced. */
function workloadWith(keys: readonly string[], own: Schema, more: Readonly<Record<string, Schema>> = {}): Schema {
  const shared = keys.map((key) => [key, { $ref: `#/definitions/workload/properties/${key}` }])
  return {
    type: 'object',
    properties: { ...Object.fromEntries(shared), settings: own, secretName: schemaOfValue('secretName', ''), ...more },
    additionalProperties: false,
  }
}
