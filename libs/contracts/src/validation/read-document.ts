import type { FieldError } from '../vocabulary/errors.ts'
import { tooManyMessage } from './issues.ts'
import { isObject } from './json-object.ts'
import type { Structure } from './structure.ts'

/** A JSON document that is ready for its schema. */
export interface ReadDocument {
  /** The document without the nulls that mean absent members; the argument is not changed. */
  readonly value: unknown
  /** Lists and maps with more parts than the schema accepts. */
  readonly tooMany: readonly FieldError[]
}

type Path = readonly (string | number)[]

/** Reads a document by its structure; unknown members stay as they are, for the schema to drop or refuse. */
export function readDocument(structure: Structure, document: unknown): ReadDocument {
  const tooMany: FieldError[] = []
  const value = read(structure, document, [], tooMany)
  return { value, tooMany }
}

function read(structure: Structure, given: unknown, path: Path, tooMany: FieldError[]): unknown {
  switch (structure.kind) {
    case 'value':
      return given
    case 'variants': {
      const isPresent = isObject(given) && Object.hasOwn(given, structure.member)
      return read(isPresent ? structure.present : structure.absent, given, path, tooMany)
    }
    case 'map':
      if (isObject(given)) bound('map', structure.most, Object.keys(given).length, path, tooMany)
      return given
    case 'list':
      if (!Array.isArray(given) || !bound('list', structure.most, given.length, path, tooMany)) return given
      if (structure.element.kind === 'value') return given
      return given.map((element, index) => read(structure.element, element, [...path, index], tooMany))
    case 'object':
      return isObject(given) ? readMembers(structure, given, path, tooMany) : given
  }
}

function readMembers(
  { members }: Structure & { readonly kind: 'object' },
  given: Readonly<Record<string, unknown>>,
  path: Path,
  tooMany: FieldError[],
): Readonly<Record<string, unknown>> {
  const changed: Record<string, unknown> = {}
  const absent: string[] = []
  for (const [name, { structure, optional, nullable }] of members) {
    if (!Object.hasOwn(given, name)) continue
    const member = given[name]
    if (member === null) {
      if (optional && !nullable) absent.push(name)
    } else if (structure.kind !== 'value') {
      changed[name] = read(structure, member, [...path, name], tooMany)
    }
  }
  if (absent.length === 0 && Object.keys(changed).length === 0) return given
  const value = { ...given, ...changed }
  for (const name of absent) delete value[name]
  return value
}

function bound(kind: 'list' | 'map', most: number, count: number, path: Path, tooMany: FieldError[]): boolean {
  if (count <= most) return true
  tooMany.push({ path: [...path], message: tooManyMessage(kind, most) })
  return false
}
