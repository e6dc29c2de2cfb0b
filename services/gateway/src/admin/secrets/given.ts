import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { UsageError } from '../operator/usage-error.ts'
import type { SecretVariable } from './needed.ts'
import { OBJECT_STORE_VARIABLES, type SecretValues } from './values.ts'

/** What the operator says of the engines; `{service}` in a URL is the name of the service. */
export interface EngineOptions {
  readonly databaseUrl?: string | undefined
  readonly databaseDirectUrl?: string | undefined
  readonly redisUrl?: string | undefined
  readonly redisCacheUrl?: string | undefined
  readonly kafkaPassword?: string | undefined
  readonly s3AccessKey?: string | undefined
  readonly s3SecretKey?: string | undefined
  /** Single variables: `<service>.<VARIABLE>=<value>`. */
  readonly set?: readonly string[] | undefined
}

/**
 * The values that the options give to each service, for the variables that it has.
 * @throws UsageError when an option is no URL, or names a variable that is no secret of the service.
 */
export function givenValues(options: EngineOptions, variables: readonly SecretVariable[]): SecretValues {
  const values = new Map(SERVICES.map((service) => [service, forAll(service, options, variables)]))
  for (const text of options.set ?? []) {
    const { service, name, value } = assignment(text, variables)
    values.get(service)?.set(name, value)
  }
  return values
}

function forAll(
  service: ServiceName,
  options: EngineOptions,
  variables: readonly SecretVariable[],
): Map<string, string> {
  const given: Record<string, string | undefined> = {
    DATABASE_URL: url('--database-url', options.databaseUrl, service),
    DATABASE_DIRECT_URL: url('--database-direct-url', options.databaseDirectUrl, service),
    REDIS_URL: url('--redis-url', options.redisUrl, service),
    REDIS_CACHE_URL: url('--redis-cache-url', options.redisCacheUrl, service),
    KAFKA_SASL_PASSWORD: options.kafkaPassword,
  }
  const has = (name: string) => variables.some((variable) => variable.service === service && variable.name === name)
  const values = new Map<string, string>()
  for (const [name, value] of Object.entries(given)) if (value !== undefined && has(name)) values.set(name, value)
  if (!usesObjectStore(service)) return values
  if (options.s3AccessKey !== undefined) values.set('AWS_ACCESS_KEY_ID', options.s3AccessKey)
  if (options.s3SecretKey !== undefined) values.set('AWS_SECRET_ACCESS_KEY', options.s3SecretKey)
  return values
}

/** The services that store bytes of mail. */
function usesObjectStore(service: ServiceName): boolean {
  return service === 'mail-ingest' || service === 'mail-send'
}

function url(option: string, text: string | undefined, service: ServiceName): string | undefined {
  const filled = text?.replaceAll('{service}', service)
  if (filled === undefined || URL.canParse(filled)) return filled
  throw new UsageError(`${option} must be a URL; {service} in it is the name of the service.`)
}

function assignment(text: string, variables: readonly SecretVariable[]) {
  const [, service, name, value] = /^([a-z-]+)\.([A-Z][A-Z0-9_]*)=(.+)$/s.exec(text) ?? []
  if (service === undefined || name === undefined || value === undefined)
    throw new UsageError('--set must have the form <service>.<VARIABLE>=<value>.')
  const known = SERVICES.find((other) => other === service)
  if (known === undefined) throw new UsageError(`${service} is no service. There are: ${SERVICES.join(', ')}.`)
  const isSecret =
    variables.some((variable) => variable.service === known && variable.name === name) ||
    (usesObjectStore(known) && OBJECT_STORE_VARIABLES.some((other) => other === name))
  if (!isSecret) throw new UsageError(`${name} is no secret of ${known}. Settings belong into the values of the chart.`)
  return { service: known, name, value }
}
