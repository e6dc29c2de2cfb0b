import { z } from 'zod'
import { wireSchema } from '../schemas/wire.ts'

/** JSON Schema, as the documents hold it. */
export type Json = { readonly [member: string]: unknown }

/** Schemas that have a name: written once per document, and referred to everywhere else. */
export class Components {
  readonly #schemas = new Map<string, Json>()

  /** The JSON Schema of a zod schema: what is sent (`input`) or what is answered (`output`). */
  convert(schema: z.ZodType, io: 'input' | 'output'): Json {
    // Wrapped, because only inner schemas become definitions: so a named one is a reference wherever it stands.
    const wrapped = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any', override: adjust })
    const { properties, $defs } = z
      .object({ properties: z.object({ it: json }), $defs: z.record(z.string(), json).optional() })
      .parse(JSON.parse(JSON.stringify(wrapped).replaceAll('#/$defs/', '#/components/schemas/')))
    for (const [name, definition] of Object.entries($defs ?? {})) this.#keep(name, definition)
    return properties.it
  }

  #keep(name: string, { id: _, ...definition }: Json): void {
    const known = this.#schemas.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
      throw new Error(`Two different schemas are called ${name}`)
    }
    this.#schemas.set(name, definition)
  }

  get(name: string): Json | undefined {
    return this.#schemas.get(name)
  }

  /** By name, in alphabetical order. */
  all(): Record<string, Json> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

const json = z.record(z.string(), z.unknown())

interface Adjusted {
  readonly zodSchema: z.core.$ZodType
  readonly jsonSchema: Record<string, unknown>
}

/** Says what travels where zod cannot, and leaves out what would only repeat a `format` or forbid later members. */
function adjust({ zodSchema, jsonSchema }: Adjusted): void {
  const wire = wireSchema(zodSchema)
  if (wire !== undefined) {
    for (const member of Object.keys(jsonSchema)) if (member !== 'description') delete jsonSchema[member]
    Object.assign(jsonSchema, wire)
  }
  if (typeof jsonSchema['format'] === 'string') delete jsonSchema['pattern']
  if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties']
  if (jsonSchema['minLength'] === 0) delete jsonSchema['minLength']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
}

/** A member of a JSON document that is an object, or an empty one. */
export function member(document: Json, name: string): Json {
  return json.safeParse(document[name]).data ?? {}
}

/** A member that is a list of strings, or an empty one. */
export function strings(document: Json, name: string): readonly string[] {
  return z.array(z.string()).safeParse(document[name]).data ?? []
}
