const encoder = new TextEncoder()

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** @param {unknown} value */
function encoded(value) {
  return base64url(encoder.encode(JSON.stringify(value)))
}

/** A key pair whose private half no script can read. @returns {Promise<CryptoKeyPair>} */
export function makeKeyPair() {
  return crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
}

/** @param {CryptoKeyPair} pair */
export async function publicJwk({ publicKey }) {
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  return { kty, crv, x, y }
}

/**
 * A compact JWS by a key of this browser.
 * @param {CryptoKeyPair} pair
 * @param {{ typ: string, kid: string }} header
 * @param {Record<string, unknown>} payload
 */
export async function sign({ privateKey }, { typ, kid }, payload) {
  const signed = `${encoded({ alg: 'ES256', typ, kid })}.${encoded(payload)}`
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, encoder.encode(signed))
  return `${signed}.${base64url(new Uint8Array(signature))}`
}
