import { z } from 'zod'
import { structureOf } from '../../validation/structure.ts'
import { variantsOf } from '../../validation/variants.ts'
import { wireSchema } from '../../validation/wire.ts'

/** JSON Schema, in the form of the documents. */
export type Json = { readonly [member: string]: unknown }

/** Schemas that have a name: written once per document, and referred to everywhere else. */
export class Components {
  readonly #schemas = new Map<string, Json>()

  /**
   * The JSON Schema of a zod schema: of a request (`input`), of a JSON body, where `null` means an absent member
   * (`body`), or of a response (`output`).
   */
  convert(schema: z.ZodType, io: 'input' | 'output' | 'body'): Json {
    // Wrapped, because only inner schemas become definitions: a named schema is then a reference everywhere.
    const wrapped = z.toJSONSchema(z.object({ it: documented(schema) }), {
      io: io === 'output' ? 'output' : 'input',
      unrepresentable: 'any',
      override: (given) => {
        adjust(given)
        if (io === 'body') admitNulls(given)
      },
    })
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

/** Describes what zod cannot express, and omits what only repeats a `format` or would forbid later members. */
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

/** A choice by the presence of a member is described by both of its objects. */
function documented(schema: z.ZodType): z.ZodType {
  const variants = variantsOf(schema)
  return variants === undefined ? schema : z.union([variants.present, variants.absent])
}

/** Optional members of a body may be `null` (identity 1.2). */
function admitNulls({ zodSchema, jsonSchema }: Adjusted): void {
  const structure = structureOf(zodSchema)
  const properties = jsonSchema['properties']
  if (structure.kind !== 'object' || typeof properties !== 'object' || properties === null) return
  jsonSchema['properties'] = Object.fromEntries(
    Object.entries(properties).map(([name, described]) => {
      const member = structure.members.get(name)
      return [name, member?.optional === true && !member.nullable ? withNull(json.parse(described)) : described]
    }),
  )
}

function withNull(described: Json): Json {
  const { type, anyOf, description, ...rest } = described
  if (described['not'] !== undefined) return described
  if (typeof type === 'string' && described['enum'] === undefined) return { ...described, type: [type, 'null'] }
  const alternatives = z.array(json).safeParse(anyOf).data ?? [{ ...(type === undefined ? {} : { type }), ...rest }]
  return { ...(description === undefined ? {} : { description }), anyOf: [...alternatives, { type: 'null' }] }
}

/** A member of a JSON document that is an object, or an empty one. */
export function member(document: Json, name: string): Json {
  return json.safeParse(document[name]).data ?? {}
}

/** A member that is a list of strings, or an empty one. */
export function strings(document: Json, name: string): readonly string[] {
  return z.array(z.string()).safeParse(document[name]).data ?? []
}
