import { describeWith } from '@restante/testkit'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { newPage, openBrowser, type WatchedPage } from '../support/programs/browser.ts'
import { type Suite, useSystem } from '../support/suite.ts'
import { type RelyingParty, startRelyingParty } from './relying-party.ts'

/** What every test of the pages needs: a system, a browser, and an app that runs. */
export interface SignInSuite {
  readonly system: Suite
  readonly app: RelyingParty
  /** Opens an empty page of its own profile. */
  open(options?: BrowserContextOptions): Promise<WatchedPage>
}

/** Describes tests of the pages of sign-in in Chromium. @param scope that the app asks for. */
export function describeInBrowser(title: string, scope: string, tests: (suite: SignInSuite) => void): void {
  describeWith({ programs: ['chromium'] }, title, () => {
    const system = useSystem()
    let app: RelyingParty
    let chromium: Awaited<ReturnType<typeof openBrowser>>
    beforeAll(async () => {
      chromium = system.cleanUp(await openBrowser())
      const { operator, signInUrl: issuer } = system.endpoints
      app = system.cleanUp(await startRelyingParty({ operator, issuer, scope, settings: { disclosure: DISCLOSURE } }))
    })
    tests({
      system,
      get app() {
        return app
      },
      open: (options = {}) => newPage(chromium.browser, options),
    })
  })
}

const DISCLOSURE = `## What we do with your address

We send **results** to it, and nothing else. [How long we keep it](https://app.example/retention):

- results: 30 days
- bills: *ten years*
`

/** The heading of the state that a page shows. */
export function heading(page: Page) {
  return page.locator('h1:visible')
}

/** Waits for a heading. */
export async function shows(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('h1:visible').filter({ hasText: text }).waitFor()
}

/** The claims that the app shows once it is signed in. */
export async function claimsAt(page: Page): Promise<Readonly<Record<string, unknown>>> {
  await shows(page, /^(Signed in|Not signed in)$/)
  const text = await page.locator('body').textContent()
  if (text?.includes('Not signed in')) throw new Error(text)
  return JSON.parse((await page.locator('pre').textContent()) ?? '')
}

/** Presses a button. */
export function press(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click()
}
