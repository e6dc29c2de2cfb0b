import type { AppShown } from './data.ts'
import { appName } from './parts.ts'

/** One of the states of a page. All but one are hidden; the script shows another and moves the focus to its heading. */
export interface State {
  readonly name: string
  /** HTML, as the content. */
  readonly heading: string
  readonly content: string
}

/**
 * The states of a page, of which the first is shown until the script shows another, and the element that says to a screen
 * reader what the script did.
 */
export function renderStates(states: readonly State[]): string {
  const sections = states.map(
    ({ name, heading, content }, index) =>
      `<section data-state="${name}" aria-labelledby="heading-${name}"${index === 0 ? '' : ' hidden'}>
<h1 id="heading-${name}" tabindex="-1">${heading}</h1>
${content}
</section>`,
  )
  return `${NO_SCRIPT}\n${sections.join('\n')}\n<p role="status" data-announce></p>`
}

/** `no-script.css`, in the head, hides everything else then. */
const NO_SCRIPT = `<noscript>
<h1>This page needs JavaScript</h1>
<p>Signing in makes a key that never leaves your browser, and only a script can do that. Allow JavaScript for this page and load it again, or use another browser.</p>
</noscript>`

/** Of pages that make or use a key. */
export const UNSUPPORTED: State = {
  name: 'unsupported',
  heading: 'This browser cannot sign in',
  content: `<p>Signing in makes a key that never leaves your browser. This browser has no safe place for one: it has no Web Crypto or no IndexedDB, or they are switched off, as in some private windows.</p>
<p>Use an up-to-date browser in an ordinary window.</p>`,
}

/** After a failure that another try may mend. The script writes what is known of it. */
export const FAILED: State = {
  name: 'failed',
  heading: 'That did not work',
  content: `<p data-reason>The server could not be reached. Nothing was shared.</p>
<p class="actions"><button type="button" data-retry>Try again</button></p>`,
}

/** A sign-in that took too long. */
export function expired(app: AppShown): State {
  return {
    name: 'expired',
    heading: 'This sign-in has expired',
    content: `<p>It waited too long, or it began in another browser. Nothing was shared. Go back to ${appName(app)} and start again.</p>`,
  }
}

/** A sign-in that went on somewhere else: in another tab, or before the reader came back to this page. */
export function ended(app: AppShown): State {
  return {
    name: 'ended',
    heading: 'This sign-in is over',
    content: `<p>It was finished already, perhaps in another tab. You can close this page. To sign in again, start at ${appName(app)}.</p>`,
  }
}
