import { forget } from './key-store.js'
import { call } from './server.js'
import { sign } from './signature.js'
import { data } from './view.js'

/** @import { StoredKey } from './key-store.js' */
/** @import { Answer } from './server.js' */

/** @param {Answer} answer Whether it is the key that the server does not know, and not this browser. */
export function isRefusedKey({ status, body }) {
  return status === 401 && body['error'] === 'invalid_assertion'
}

/**
 * Proves a key for the sign-in of this page. The signature names the app, so that it is worth nothing to another.
 * A key that the server no longer knows is deleted here.
 * @param {StoredKey} key
 */
export async function signIn({ api_key_id, inbox_id, key_pair }) {
  const { jti = '', clientId: client_id = '', redirectUriHash: redirect_uri_hash = '' } = data
  const payload = { jti, inbox_id, client_id, redirect_uri_hash }
  const assertion = await sign(key_pair, { typ: 'signin+jwt', kid: api_key_id }, payload)
  const answer = await call('/v0/authorize/sign', { jti, assertion })
  if (isRefusedKey(answer)) await forget(api_key_id)
  return answer
}
