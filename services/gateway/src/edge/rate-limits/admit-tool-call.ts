import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { ApiError } from '@restante/service/errors'
import type { RateLimits } from './rate-limits.ts'

/** Counts a call of a tool. The refusal is part of the response: the service of the tools words it for a model. */
export async function admitToolCall(
  limits: RateLimits,
  call: InternalRequestOf<'gateway.admitToolCall'>,
): Promise<InternalResponseOf<'gateway.admitToolCall'>> {
  try {
    await limits.admitToolCall(call)
    return {}
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 429) throw error
    const { fix = '', retryAfter = 1 } = error.options
    return { refusal: { message: error.message, fix, retry_after: retryAfter } }
  }
}
