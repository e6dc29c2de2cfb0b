import type { OperationDefinition } from '@restante/contracts/operations'
import { structureOf } from '@restante/contracts/validation'
import { z } from 'zod'

/** One input that an operation must reject, and the member that is wrong. */
export interface WrongInput {
  readonly member: string
  readonly value: unknown
}

/** JSON values of every type; for each member at least one has the wrong type. */
const VALUES: readonly unknown[] = [12_345, 'no such value \u0000', true, ['\u0000'], { a: { b: [] } }]

/** Query values that are neither numbers, nor enumeration values, nor dates. */
const WORDS = ['0', '-1', 'perhaps', '']

/** Wrong values for each member of the body, which the contract rejects at that member. */
export function wrongMembers(operation: OperationDefinition): WrongInput[] {
  const { body } = operation
  if (body === undefined) return []
  return Object.keys(propertiesOf(body)).flatMap((member) => {
    const wrong = VALUES.find((value) => refusedAt(body, { [member]: value }).has(member))
    return wrong === undefined ? [] : [{ member, value: wrong }]
  })
}

/** Members without which the body is rejected. */
export function requiredMembers({ body }: OperationDefinition): string[] {
  return body === undefined ? [] : [...refusedAt(body, {})].filter((member) => member !== '')
}

/** Optional members for which `null` means absent, in the variant that an empty body selects. */
export function optionalMembers({ body }: OperationDefinition): string[] {
  const structure = body === undefined ? undefined : structureOf(body)
  const selected = structure?.kind === 'variants' ? structure.absent : structure
  if (selected?.kind !== 'object') return []
  return [...selected.members].flatMap(([name, { optional, nullable }]) => (optional && !nullable ? [name] : []))
}

/** The same for the query. A page token is opaque, so any text that no response contained is wrong. */
export function wrongParameters({ query }: OperationDefinition): WrongInput[] {
  return Object.keys(query.shape).flatMap((member) => {
    if (member === 'page_token') return [{ member, value: 'forged' }]
    const wrong = WORDS.find((value) => value !== '' && refusedAt(query, { [member]: value }).has(member))
    return wrong === undefined ? [] : [{ member, value: wrong }]
  })
}

function refusedAt(schema: z.ZodType, value: unknown): Set<string> {
  const { error } = schema.safeParse(value)
  return new Set(error?.issues.map(({ path }) => String(path[0] ?? '')))
}

function propertiesOf(body: z.ZodType): object {
  const { properties } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
  return properties ?? {}
}
