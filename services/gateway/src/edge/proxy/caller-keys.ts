import { UPSTREAMS, type UpstreamName, variablePart } from '@restante/contracts/vocabulary'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

/** The key of the caller tokens of each service behind the gateway; only it and the gateway know it. */
export type CallerKeys = ReadonlyMap<UpstreamName, string>

const shape: Record<string, z.ZodType<string, string>> = Object.fromEntries(
  UPSTREAMS.map((name) => [
    variableOf(name),
    env.secret().describe(`Key of the caller tokens for ${name}, equal to its CALLER_KEY`),
  ]),
)
/** Its names follow from the services, so the compiler knows none of them: `configure` looks them up. */
const variables: z.ZodType<object> & z.ZodObject = z.object(shape)

export const callerKeyVariables = {
  variables,
  configure: (given: object): { readonly callerKeys: CallerKeys } => {
    const values = new Map<string, unknown>(Object.entries(given))
    return { callerKeys: new Map(UPSTREAMS.map((name) => [name, keyFor(name, values)])) }
  },
}

function keyFor(name: UpstreamName, values: ReadonlyMap<string, unknown>): string {
  const key = values.get(variableOf(name))
  if (typeof key !== 'string') throw new Error(`${variableOf(name)} was not read`)
  return key
}

function variableOf(name: UpstreamName): string {
  return `CALLER_KEY_${variablePart(name)}`
}
