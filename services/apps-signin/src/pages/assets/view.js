const announcement = document.querySelector('[data-announce]')

/** @type {DOMStringMap} What the server wrote for the script of this page. */
export const data = document.querySelector('main')?.dataset ?? {}

/** @returns {Element} @param {string} selector of an element that the page has. */
export function find(selector) {
  const element = document.querySelector(selector)
  if (element === null) throw new Error(`the page has no ${selector}`)
  return element
}

/**
 * Shows one state of the page. The focus goes along when it was in the state before, as after a click; otherwise the
 * reader may be elsewhere, and the change is only announced.
 * @param {string} name
 */
export function show(name) {
  let focused = false
  for (const state of document.querySelectorAll('[data-state]')) {
    if (!(state instanceof HTMLElement)) continue
    if (!state.hidden && state.contains(document.activeElement)) focused = true
    state.hidden = state.dataset['state'] !== name
  }
  const heading = find(`[data-state="${name}"] h1`)
  if (focused && heading instanceof HTMLElement) heading.focus()
  else if (announcement !== null) announcement.textContent = heading.textContent
}

/**
 * Says what failed, and offers what may mend it.
 * @param {string} reason
 * @param {() => void} retry
 */
export function fail(reason, retry) {
  find('[data-reason]').textContent = reason
  const button = find('[data-retry]')
  if (button instanceof HTMLButtonElement) button.onclick = retry
  show('failed')
}

/** Times in the time zone and the language of the reader. */
export function localizeTimes() {
  for (const element of document.querySelectorAll('time')) {
    element.textContent = new Date(element.dateTime).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })
  }
}

/**
 * Goes on without a trace in the history, so that Back leads to the app and not to a page that is over.
 * @param {string} address
 */
export function go(address) {
  const target = new URL(address, location.href)
  if (target.protocol !== 'https:' && target.protocol !== 'http:') throw new Error('not an address of the web')
  location.replace(target)
}

// A page from the history shows a state that may be over.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})
