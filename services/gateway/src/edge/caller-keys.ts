import { UPSTREAMS, type UpstreamName, variablePart } from '@restante/contracts'
import { env } from '@restante/service'
import { z } from 'zod'

/** The key of the caller tokens of each service behind the gateway; only it and the gateway know it. */
export type CallerKeys = ReadonlyMap<UpstreamName, string>

const shape: Record<string, z.ZodType<string, string>> = Object.fromEntries(
  UPSTREAMS.map((name) => [
    variableOf(name),
    env.secret().describe(`Key of the caller tokens for ${name}, equal to its CALLER_KEY`),
  ]),
)
const variables: z.ZodType<Record<string, string>> & z.ZodObject = z.object(shape)

export const callerKeyVariables = {
  variables,
  configure: (given: Readonly<Record<string, unknown>>): { readonly callerKeys: CallerKeys } => ({
    callerKeys: new Map(UPSTREAMS.map((name) => [name, String(given[variableOf(name)])])),
  }),
}

function variableOf(name: UpstreamName): string {
  return `CALLER_KEY_${variablePart(name)}`
}
