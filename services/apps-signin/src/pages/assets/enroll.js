import { forget, keep } from './key-store.js'
import { call } from './server.js'
import { makeKeyPair, publicJwk, sign } from './signature.js'

/** @import { StoredKey } from './key-store.js' */
/** @import { Answer } from './server.js' */

const THIRTY_DAYS = 30 * 24 * 60 * 60 * 1_000

/**
 * Makes a key of an inbox in this browser (apps 7.2). It is stored before the server hears of it: a browser that ends
 * between the two has a key too many, which its first use removes, and never a key that only the server knows.
 * @param {{ ticket: string } | { jti: string }} by
 * @param {string} appName for the list of keys.
 * @returns {Promise<{ key: StoredKey } | { refused: Answer }>}
 */
export async function enroll(by, appName) {
  const started = await call('/v0/enroll/start', by)
  if (started.status !== 200) return { refused: started }
  const { enrollment_id, challenge } = started.body
  const [api_key_id, inbox_id] = [String(started.body['api_key_id']), String(started.body['inbox_id'])]
  const key_pair = await makeKeyPair()
  const created_at = Date.now()
  const key = { api_key_id, inbox_id, key_pair, app_name: appName, created_at, expires_at: created_at + THIRTY_DAYS }
  await keep(key)
  const payload = { challenge, enrollment_id, inbox_id, aud: location.origin }
  const proof = await sign(key_pair, { typ: 'signin-enroll+jwt', kid: api_key_id }, payload)
  const finished = await finish({ enrollment_id, public_key: await publicJwk(key_pair), proof })
  if (finished.status >= 200 && finished.status < 300) return { key }
  // After no answer the key may have been activated: it stays, and its first use shows whether it was.
  if (finished.status >= 400 && finished.status < 500) await forget(api_key_id)
  return { refused: finished }
}

/** Repeated once, because the link is used up by now. @param {Record<string, unknown>} body */
async function finish(body) {
  const answer = await call('/v0/enroll/finish', body)
  return answer.status === 0 || answer.status >= 500 ? call('/v0/enroll/finish', body) : answer
}
