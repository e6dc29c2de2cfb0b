import { call, reasonOf } from './server.js'
import { data, fail, go, localizeTimes, show } from './view.js'

/** @import { Answer } from './server.js' */

const { kind, jti = '', shown = '', token = '' } = data
const ownPage = `/owner/${encodeURIComponent(token)}`
/** @type {NodeListOf<HTMLButtonElement>} */
const buttons = document.querySelectorAll('[data-allow]')

/** @param {boolean} allow @returns {Promise<Answer>} */
function send(allow) {
  return kind === 'owner'
    ? call('/owner/decide', { token, allow })
    : call('/v0/authorize/consent', { jti, allow, shown })
}

/** One answer at a time: the second of two clicks finds the buttons disabled. @param {boolean} allow */
async function decide(allow) {
  for (const button of buttons) button.disabled = true
  const answer = await send(allow)
  const { status, body } = answer
  if (status >= 200 && status < 300) return go(kind === 'owner' ? ownPage : String(body['location']))
  if (status === 409) return kind === 'owner' ? go(ownPage) : show('ended')
  if (status === 410 || status === 404 || status === 401) return show('expired')
  for (const button of buttons) button.disabled = false
  fail(reasonOf(answer), () => decide(allow))
}

localizeTimes()
for (const button of buttons) {
  button.addEventListener('click', () => decide(button.dataset['allow'] === 'true'))
}
