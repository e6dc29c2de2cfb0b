import { enroll } from './enroll.js'
import { isSupported, keysFor } from './key-store.js'
import { untilChanged } from './polling.js'
import { call, mayPass, reasonOf } from './server.js'
import { isRefusedKey, signIn } from './sign-in.js'
import { data, fail, find, go, localizeTimes, show } from './view.js'

/** @import { StoredKey } from './key-store.js' */
/** @import { Answer } from './server.js' */

const { jti = '', loginHint = '', appName = '' } = data
const promptNone = data['promptNone'] === 'true'
const continueAt = `/v0/authorize/continue?jti=${encodeURIComponent(jti)}`

/** @returns {Promise<void>} */
async function begin() {
  if (!isSupported()) return promptNone ? decline() : show('unsupported')
  const keys = await keysFor(loginHint)
  const [only] = keys
  if (only !== undefined && keys.length === 1) return use(only)
  if (promptNone) return decline()
  return keys.length === 0 ? wait() : choose(keys)
}

/** With `prompt=none` nobody can be asked. */
async function decline() {
  const answer = await call('/v0/authorize/decline', { jti, reason: 'no_key' })
  if (answer.status === 200) return go(String(answer.body['location']))
  return refused(answer, decline)
}

/** @param {StoredKey} key @returns {Promise<void>} */
async function use(key) {
  find('[data-address]').textContent = key.inbox_id
  show('signing-in')
  const answer = await signIn(key)
  if (answer.status === 200) return go(String(answer.body['next']))
  // The key was deleted here: perhaps another one is left.
  if (isRefusedKey(answer)) return begin()
  return refused(answer, () => use(key))
}

/**
 * @param {Answer} answer
 * @param {() => unknown} retry
 */
function refused(answer, retry) {
  // Decided elsewhere, or bound to another inbox by its agent: how far it is, the server knows.
  if (answer.status === 409) return run(wait)
  if ([401, 404, 410].includes(answer.status)) return show('expired')
  return fail(reasonOf(answer), () => run(mayPass(answer) ? retry : wait))
}

/** @param {StoredKey[]} keys */
function choose(keys) {
  const choices = find('[data-choices]')
  choices.replaceChildren(
    ...keys.map((key) => {
      const [item, button] = [document.createElement('li'), document.createElement('button')]
      button.type = 'button'
      button.textContent = key.inbox_id
      button.addEventListener('click', () => run(() => use(key)))
      item.append(button)
      return item
    }),
  )
  find('[data-other]').addEventListener('click', () => run(wait), { once: true })
  show('choose')
}

/** Until an agent lets the sign-in go on. @returns {Promise<void>} */
async function wait() {
  show('waiting')
  const change = await untilChanged(jti)
  if (change === 'expired') return show('expired')
  if (change === 'decided') return go(continueAt)
  const outcome = await enroll({ jti }, appName)
  return 'key' in outcome ? use(outcome.key) : refused(outcome.refused, wait)
}

/** @param {() => unknown} step */
async function run(step) {
  try {
    await step()
  } catch {
    // The database of keys could not be opened or written: the browser forbids it.
    show('unsupported')
  }
}

localizeTimes()
run(begin)
