import { z } from 'zod'

/** One variable of a service as documents and the chart describe it. */
export interface DescribedVariable {
  readonly name: string
  /** Whether the service does not start without it. */
  readonly required: boolean
  /** As it would be written in the environment. */
  readonly fallback: string | undefined
  readonly meaning: string
  /** The only values, if there are so few that they have names. */
  readonly values: readonly string[] | undefined
  /** `own`: a secret of this service; `shared`: one that all services with the variable share. */
  readonly confidential: 'own' | 'shared' | undefined
}

const document = z.object({
  properties: z.record(
    z.string(),
    z.looseObject({
      description: z.string().optional(),
      default: z.unknown().optional(),
      enum: z.array(z.string()).optional(),
      confidential: z.enum(['own', 'shared']).optional(),
    }),
  ),
  required: z.array(z.string()).default([]),
})

/** Every variable that a service reads, in the order of its blocks. */
export function describeVariables({ variables }: { readonly variables: z.ZodObject }): readonly DescribedVariable[] {
  const schema = z.toJSONSchema(variables, { io: 'input', unrepresentable: 'any' })
  const { properties, required } = document.parse(schema)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: required.includes(name),
    fallback: property.default === undefined ? undefined : String(property.default),
    meaning: property.description ?? '',
    values: property.enum,
    confidential: property.confidential,
  }))
}
