import { camelCase, MAPS, snakeCase } from '../../answers/document.ts'

/** Arguments as the API names them. What is undefined is left out. */
export function onWire(args: object): Record<string, unknown> {
  return renamed(args, snakeCase, undefined)
}

/** Arguments as a model has written them: names in snake_case are understood too, and null is absent (mcp 2). */
export function asArguments(given: object): Record<string, unknown> {
  return renamed(given, camelCase, null)
}

/** Renames members at every depth, and leaves out those with the value that stands for none. */
function renamed(given: object, rename: (name: string) => string, absent: null | undefined): Record<string, unknown> {
  const renamedIn = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamedIn)
    return typeof value === 'object' && value !== null ? renamed(value, rename, absent) : value
  }
  const present = Object.entries(given).filter(([, value]) => value !== absent)
  return Object.fromEntries(present.map(([name, value]) => [rename(name), MAPS.has(name) ? value : renamedIn(value)]))
}
