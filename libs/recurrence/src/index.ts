export { type ExpandOptions, Expansion, expand, failingPart, MOST_STEPS } from './expand/expand.ts'
export { formatRule } from './rule/format.ts'
export { InvalidRuleError, parseRule, type RuleContext } from './rule/parse.ts'
export { type DayOfWeek, FREQUENCIES, type Frequency, type Rule, WEEKDAYS, type Weekday } from './rule/rule.ts'
export {
  DAY_SECONDS,
  formatDay,
  formatWallTime,
  parseDay,
  parseWallTime,
  type WallDay,
  type WallTime,
} from './wall/wall-time.ts'
export { isZoneName } from './zone/names.ts'
export type { Instant, Transition } from './zone/offsets.ts'
export { Zone } from './zone/zone.ts'
