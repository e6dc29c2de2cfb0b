import { expand, formatWallTime, parseRule, parseWallTime, type WallTime } from '../src/index.ts'

/** A wall time that a test is sure of. */
export function at(text: string): WallTime {
  const time = parseWallTime(text)
  if (time === undefined) throw new Error(`${text} is no wall time`)
  return time
}

/** The first so many times. */
export function take(count: number, times: Iterable<WallTime>): WallTime[] {
  const taken: WallTime[] = []
  for (const time of times) if (taken.push(time) === count) break
  return taken
}

/** The first times of a rule, as text. */
export function first(count: number, rule: string, start: string): string[] {
  return take(count, expand(parseRule(rule, { allDay: false }), at(start))).map(formatWallTime)
}
