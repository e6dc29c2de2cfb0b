import { forget, isSupported, liveKeys } from './key-store.js'
import { find, show } from './view.js'

/** @import { StoredKey } from './key-store.js' */

const list = find('[data-keys]')
const none = find('[data-none]')

/** @param {string} text @param {string} [className] */
function paragraph(text, className = '') {
  const element = document.createElement('p')
  element.className = className
  element.textContent = text
  return element
}

/** @param {StoredKey} key */
function row({ api_key_id, inbox_id, app_name, expires_at }) {
  const [item, about, button] = ['li', 'div', 'button'].map((name) => document.createElement(name))
  const until = new Date(expires_at).toLocaleDateString([], { dateStyle: 'medium' })
  about?.append(paragraph(inbox_id, 'value'), paragraph(`Made for ${app_name}, expires on ${until}`, 'faint'))
  if (button instanceof HTMLButtonElement) {
    button.className = 'second'
    button.textContent = 'Forget'
    button.setAttribute('aria-label', `Forget ${inbox_id}, made for ${app_name}`)
    button.addEventListener('click', () => remove(api_key_id), { once: true })
  }
  item?.append(about ?? '', button ?? '')
  return item ?? ''
}

/** @param {string} apiKeyId */
async function remove(apiKeyId) {
  await forget(apiKeyId)
  await draw()
  const heading = find('h1')
  if (heading instanceof HTMLElement) heading.focus()
}

async function draw() {
  const keys = await liveKeys()
  list.replaceChildren(...keys.map(row))
  if (list instanceof HTMLElement) list.hidden = keys.length === 0
  if (none instanceof HTMLElement) none.hidden = keys.length > 0
}

try {
  if (isSupported()) await draw()
  else show('unsupported')
} catch {
  show('unsupported')
}
