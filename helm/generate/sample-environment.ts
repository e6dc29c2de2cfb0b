import type { DescribedVariable } from '@restante/kit'

const SECRET = 'sample of a secret that is long enough'

/** Variables whose value has a form of its own. Nothing connects to these addresses. */
const SAMPLES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://database.invalid/sample',
  REDIS_URL: 'redis://redis.invalid',
  BLOB_STORE: 's3://sample/blobs',
  OPERATOR_ADDRESS: 'operator@example.com',
  INTERNAL_PORT: '3100',
  AUTH_BASE: 'https://signin.invalid',
}

/**
 * An environment with which a service can be composed, for describing it: every required variable has a value of the
 * right form.
 */
export function sampleEnvironment(variables: readonly DescribedVariable[]): Record<string, string> {
  return Object.fromEntries(
    variables
      .filter(({ name, required }) => required || name in SAMPLES)
      .map((variable) => [variable.name, sampleOf(variable)]),
  )
}

function sampleOf({ name, confidential }: DescribedVariable): string {
  const known = SAMPLES[name]
  if (known !== undefined) return known
  if (confidential !== undefined) return SECRET
  return name.endsWith('_URL') ? 'http://service.invalid' : 'sample.invalid'
}
