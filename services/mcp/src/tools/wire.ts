import { snakeCase } from '../answers/document.ts'

/** Members whose names are data, not ours. */
const MAPS: ReadonlySet<string> = new Set(['metadata'])

/** Arguments as the API names them. What is undefined is left out. */
export function onWire(args: object): Record<string, unknown> {
  const given = Object.entries(args).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), MAPS.has(name) ? value : wireValue(value)]))
}

function wireValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireValue)
  return typeof value === 'object' && value !== null ? onWire(value) : value
}
