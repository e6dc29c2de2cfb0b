import { call, mayPass } from './server.js'

const EVERY = 2_000
const AFTER_TROUBLE = 5_000

/** @param {number} milliseconds */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/**
 * Asks how far a sign-in is until that changes.
 * @param {string} jti
 * @returns {Promise<'enroll' | 'decided' | 'expired'>} `decided`: the server knows where to go on.
 */
export async function untilChanged(jti) {
  for (;;) {
    const answer = await call('/v0/enroll/status', { jti })
    const { state } = answer.body
    if (state === 'enroll') return state
    if (state === 'approved' || state === 'ended') return 'decided'
    if (state !== 'waiting' && !mayPass(answer)) return 'expired'
    await pause(state === 'waiting' ? EVERY : AFTER_TROUBLE)
  }
}
