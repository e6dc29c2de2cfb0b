import { enroll } from './enroll.js'
import { isSupported } from './key-store.js'
import { reasonOf } from './server.js'
import { data, fail, find, go, show } from './view.js'

const { ticket = '', continueTo = '', appName = '' } = data

async function confirm() {
  show('working')
  try {
    const outcome = await enroll({ ticket }, appName)
    if ('key' in outcome) return go(continueTo)
    const { refused } = outcome
    if (refused.status === 410 || refused.status === 404) return show('expired')
    fail(reasonOf(refused), confirm)
  } catch {
    // The database of keys could not be opened or written: the browser forbids it.
    show('unsupported')
  }
}

if (isSupported()) find('[data-confirm]').addEventListener('click', confirm)
else show('unsupported')
