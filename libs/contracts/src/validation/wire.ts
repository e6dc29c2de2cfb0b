import { z } from 'zod'

/** JSON Schema of the sent value, for schemas that accept several spellings. */
const wire = z.registry<{ readonly schema: Readonly<Record<string, unknown>> }>()

/**
 * Sets the JSON Schema in the documents for a schema whose rule zod cannot convert. Apply it last, because methods
 * create copies.
 */
export function onWire<S extends z.ZodType>(schema: S, json: Readonly<Record<string, unknown>>): S {
  wire.add(schema, { schema: json })
  return schema
}

/** The JSON Schema that `onWire` set, if any. */
export function wireSchema(schema: z.core.$ZodType): Readonly<Record<string, unknown>> | undefined {
  return schema instanceof z.ZodType ? wire.get(schema)?.schema : undefined
}
