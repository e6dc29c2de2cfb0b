import { z } from 'zod'
import { mostMembersOf } from './json-object.ts'
import { variantsOf } from './variants.ts'

/**
 * The structure of a JSON document by its schema: where members, lists and maps are, and how many elements they may
 * have.
 */
export type Structure =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Member> }
  | { readonly kind: 'list'; readonly most: number; readonly element: Structure }
  | { readonly kind: 'map'; readonly most: number }
  /** One of two objects, by the presence of a member (`byPresence`). */
  | { readonly kind: 'variants'; readonly member: string; readonly present: Structure; readonly absent: Structure }
  /** A string, number, boolean or anything else without parts. */
  | { readonly kind: 'value' }

export interface Member {
  readonly schema: z.core.$ZodType
  readonly structure: Structure
  readonly optional: boolean
  /** `null` has a meaning of its own here (identity 1.2). */
  readonly nullable: boolean
}

const VALUE: Structure = { kind: 'value' }
const known = new WeakMap<z.core.$ZodType, Structure>()

/** The structure that a schema accepts, computed once per schema. */
export function structureOf(schema: z.core.$ZodType): Structure {
  const made = known.get(schema)
  if (made !== undefined) return made
  const structure = walk(schema)
  known.set(schema, structure)
  return structure
}

function walk(schema: z.core.$ZodType): Structure {
  const members = mostMembersOf(schema)
  if (members !== undefined) return { kind: 'map', most: members }
  const variants = variantsOf(schema)
  if (variants !== undefined) {
    const { member, present, absent } = variants
    return { kind: 'variants', member, present: structureOf(present), absent: structureOf(absent) }
  }
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.def.shape).map(([name, member]) => [name, memberOf(member)] as const)
    return { kind: 'object', members: new Map(shape) }
  }
  if (schema instanceof z.ZodArray) {
    return { kind: 'list', most: maximumOf(schema), element: structureOf(schema.def.element) }
  }
  // `z.record` has no maximum; `jsonMap` is the map of this package.
  if (schema instanceof z.ZodRecord) return { kind: 'map', most: Number.POSITIVE_INFINITY }
  const inner = sentSideOf(schema) ?? innerOf(schema)
  return inner === undefined ? VALUE : structureOf(inner)
}

function memberOf(schema: z.core.$ZodType): Member {
  let [optional, nullable] = [false, false]
  for (let at: z.core.$ZodType | undefined = schema; at !== undefined; at = sentSideOf(at) ?? innerOf(at)) {
    optional ||= at instanceof z.ZodOptional || at instanceof z.ZodDefault
    nullable ||= at instanceof z.ZodNullable
  }
  return { schema, structure: structureOf(schema), optional, nullable }
}

function maximumOf({ def }: z.ZodArray): number {
  const maximums = (def.checks ?? []).flatMap(({ _zod: { def: check } }) => (isMaximum(check) ? [check.maximum] : []))
  return Math.min(Number.POSITIVE_INFINITY, ...maximums)
}

function isMaximum(def: z.core.$ZodCheckDef): def is z.core.$ZodCheckMaxLengthDef {
  return def.check === 'max_length'
}

/**
 * The part of a pipe that describes the sent value: the output of a preprocessing step, the input of any other
 * transform.
 */
function sentSideOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (!(schema instanceof z.ZodPipe)) return undefined
  return schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in
}

/** The inner schema of an optional or nullable one. */
function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
  return wraps ? schema.def.innerType : undefined
}
