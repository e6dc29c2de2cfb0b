import { LIMITS } from '@restante/contracts'
import type { ParseLimits } from './limits.ts'

/** Apart from the parsing itself, because a parser thread gets its limits sent and has no use for the contracts. */
export const DEFAULT_LIMITS: ParseLimits = LIMITS.mime

export function withDefaults(limits: Partial<ParseLimits> = {}): ParseLimits {
  return { ...DEFAULT_LIMITS, ...limits }
}
