import { z } from 'zod'
import { TIERS, type Tier } from '../vocabulary/tiers.ts'

/** Most recipients that may be mailed within a window. Windows of one length begin together, at multiples of it (UTC). */
export const sendLimit = z.object({
  recipients: z.int().min(0),
  window_seconds: z.int().min(1),
})
export type SendLimit = z.infer<typeof sendLimit>

/**
 * The limits of one organization, in place of those of the installation: for itself, for each of its pods, for each of its
 * inboxes. An absent tier has the limits of the installation, an empty list none.
 */
export const ownSendLimits = z.object({
  organization: z.array(sendLimit).max(20).optional(),
  pod: z.array(sendLimit).max(20).optional(),
  inbox: z.array(sendLimit).max(20).optional(),
})
export type OwnSendLimits = z.infer<typeof ownSendLimits>

const LIMIT = /^(\d{1,9})\/(\d{0,4})([hd])$/
const SECONDS = { h: 3_600, d: 24 * 3_600 }

/** Parses a limit such as `100/h`, `1000/d` or `10000/30d`; undefined when it is none. */
export function parseSendLimit(text: string): SendLimit | undefined {
  const [, recipients, count, unit] = LIMIT.exec(text) ?? []
  const window_seconds = Number(count === '' ? 1 : count) * (unit === 'h' ? SECONDS.h : SECONDS.d)
  return recipients !== undefined && window_seconds > 0 ? { recipients: Number(recipients), window_seconds } : undefined
}

/** The limits as they are written: `100/h,1000/d`; of none `none`. */
export function formatSendLimits(limits: readonly SendLimit[]): string {
  return limits.length === 0 ? 'none' : limits.map(formatted).join(',')
}

/** The own limits by tier, as they are written; a tier with the limits of the installation is absent. */
export function writtenSendLimits(own: OwnSendLimits): Partial<Record<Tier, string>> {
  return Object.fromEntries(
    TIERS.flatMap((tier) => {
      const limits = own[tier]
      return limits === undefined ? [] : [[tier, formatSendLimits(limits)]]
    }),
  )
}

function formatted({ recipients, window_seconds: seconds }: SendLimit): string {
  const [count, unit] = seconds % SECONDS.d === 0 ? [seconds / SECONDS.d, 'd'] : [seconds / SECONDS.h, 'h']
  return `${recipients}/${count === 1 ? '' : count}${unit}`
}
