import { z } from 'zod'

/** JSON Schema of what travels, for schemas that read several spellings of it. */
const wire = z.registry<{ readonly schema: Readonly<Record<string, unknown>> }>()

/**
 * Names what the documents say about a schema whose rule JSON Schema cannot express. Apply it last: methods make
 * copies.
 */
export function onWire<S extends z.ZodType>(schema: S, json: Readonly<Record<string, unknown>>): S {
  wire.add(schema, { schema: json })
  return schema
}

/** What `onWire` said about the schema, if anything. */
export function wireSchema(schema: z.core.$ZodType): Readonly<Record<string, unknown>> | undefined {
  return schema instanceof z.ZodType ? wire.get(schema)?.schema : undefined
}
