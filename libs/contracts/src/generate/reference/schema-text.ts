import { z } from 'zod'
import { type Json, member, strings } from '../parts/components.ts'
import { anchor, plain } from '../parts/markdown.ts'

const REFERENCE = /^#\/components\/schemas\/(\w+)$/
const documents = z.array(z.record(z.string(), z.unknown()))

/** The schema that a reference names. */
export function referenceOf(schema: Json): string | undefined {
  return REFERENCE.exec(String(schema['$ref'] ?? ''))?.[1]
}

/** The alternatives of a schema; empty if it has none. */
export function alternativesOf(schema: Json): readonly Json[] {
  return documents.safeParse(schema['anyOf'] ?? schema['oneOf']).data ?? []
}

/** A type in words: `list of string`, `"active" or "paused"`, a link to the section of a named schema. */
export function typeText(schema: Json): string {
  const name = referenceOf(schema)
  if (name !== undefined) return `[${name}](#${anchor(name)})`
  if (schema['const'] !== undefined) return literal(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map(literal).join(' or ')
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeText))].join(' or ')
  const types = typesOf(schema)
  return types.length === 0 ? 'any' : types.map((type) => simpleType(type, schema)).join(' or ')
}

function typesOf(schema: Json): readonly string[] {
  return typeof schema['type'] === 'string' ? [schema['type']] : strings(schema, 'type')
}

function simpleType(type: string, schema: Json): string {
  if (type === 'array') return `list of ${typeText(member(schema, 'items'))}`
  const values = member(schema, 'additionalProperties')
  if (type === 'object' && Object.keys(values).length > 0) return `map to ${typeText(values)}`
  if (type === 'string' && typeof schema['format'] === 'string') return `string (${schema['format']})`
  return type
}

function literal(value: unknown): string {
  return `\`${JSON.stringify(value)}\``
}

/** What a value has to keep in addition to its type, after its description. */
export function detailText(schema: Json): string {
  const { description, pattern } = schema
  return [
    typeof description === 'string' ? plain(description) : '',
    range(schema['minLength'], schema['maxLength'], 'characters'),
    range(schema['minItems'], schema['maxItems'], 'items'),
    range(schema['minProperties'], schema['maxProperties'], 'members'),
    range(schema['minimum'], schema['maximum'], ''),
    typeof pattern === 'string' ? `Matches \`${pattern}\`.` : '',
  ]
    .filter((text) => text !== '')
    .join(' ')
}

function range(least: unknown, most: unknown, unit: string): string {
  const words = [
    ...(least === undefined ? [] : [`at least ${least}`]),
    ...(most === undefined ? [] : [`at most ${most}`]),
  ].join(', ')
  return words === '' ? '' : `${words[0]?.toUpperCase()}${words.slice(1)}${unit === '' ? '' : ` ${unit}`}.`
}
