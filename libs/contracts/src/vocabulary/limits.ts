import { appsLimits } from './limits/apps.ts'
import { eventsLimits } from './limits/events.ts'
import { mailInLimits } from './limits/mail-in.ts'
import { mailOutLimits } from './limits/mail-out.ts'
import { requestsLimits } from './limits/requests.ts'
import { retentionLimits } from './limits/retention.ts'
import { tenancyLimits } from './limits/tenancy.ts'

/**
 * Every limit that is visible outside of a service, by subject. Sizes are bytes of UTF-8, lengths are characters, times
 * are milliseconds, unless the name says otherwise. Limits that an installation may change are defaults here.
 */
export const LIMITS = {
  ...requestsLimits,
  ...tenancyLimits,
  ...appsLimits,
  ...mailInLimits,
  ...mailOutLimits,
  ...eventsLimits,
  ...retentionLimits,
} as const
