const SLOWEST = 20_000

/** @typedef {{ status: number, body: Record<string, unknown> }} Answer Status 0: the server could not be reached. */

/**
 * Calls the server of this page.
 * @param {string} path
 * @param {Record<string, unknown>} body
 * @returns {Promise<Answer>}
 */
export async function call(path, body) {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(SLOWEST),
    })
    return { status: response.status, body: await bodyOf(response) }
  } catch {
    return { status: 0, body: {} }
  }
}

/** @param {Response} response @returns {Promise<Record<string, unknown>>} */
async function bodyOf(response) {
  const text = await response.text()
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** @param {Answer} answer Whether another try can succeed. */
export function mayPass({ status }) {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

/** @param {Answer} answer What the server says of a refusal, for a person. */
export function reasonOf({ status, body }) {
  if (status === 0) return 'The server could not be reached. Nothing was shared. Check your connection.'
  if (status === 429) return 'Too many sign-ins were tried. Wait some minutes. Nothing was shared.'
  if (status >= 500) return 'The server has a problem now. Nothing was shared. Wait a minute.'
  const { message } = body
  return typeof message === 'string' ? message : 'The server refused. Nothing was shared.'
}
