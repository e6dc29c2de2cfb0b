import type { z } from 'zod'
import { type Structure, structureOf } from './structure.ts'

/** How much structure a JSON body may have, however many bytes it has. */
export interface BodyBound {
  /** Members of all objects and elements of all lists together. */
  readonly parts: number
  /** Levels of objects and lists inside each other. */
  readonly depth: number
}

/** Unknown members are ignored, so a body may bring some; the same room covers empty objects and lists. */
const SURPLUS = 5_000
/** Far deeper than any schema, because ignored members may be nested too. */
const DEPTH = 64

const known = new WeakMap<z.core.$ZodType, BodyBound>()

/**
 * The most parts that a body of this schema can have: its members, and those of each list and map at its maximum, with
 * room for unknown members. A body beyond it is refused before it is parsed.
 */
export function bodyBound(schema: z.core.$ZodType): BodyBound {
  const made = known.get(schema)
  if (made !== undefined) return made
  const bound = { parts: mostParts(structureOf(schema)) + SURPLUS, depth: DEPTH }
  known.set(schema, bound)
  return bound
}

function mostParts(structure: Structure): number {
  switch (structure.kind) {
    case 'value':
      return 0
    case 'map':
      return structure.most
    case 'list':
      return structure.most * (1 + mostParts(structure.element))
    case 'variants':
      return Math.max(mostParts(structure.present), mostParts(structure.absent))
    case 'object':
      return [...structure.members.values()].reduce((sum, member) => sum + 1 + mostParts(member.structure), 0)
  }
}
