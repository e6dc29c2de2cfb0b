import { LIMITS } from '@restante/contracts/vocabulary'
import type { ParseLimits } from './limits.ts'

/** Separate from the parsing itself, because a parser thread is sent its limits and need not load the contracts. */
export const DEFAULT_LIMITS: ParseLimits = LIMITS.mime

export function withDefaults(limits: Partial<ParseLimits> = {}): ParseLimits {
  return { ...DEFAULT_LIMITS, ...limits }
}
