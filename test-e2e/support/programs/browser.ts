import { PATIENCE_MS } from '@restante/testkit'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { output } from './programs.ts'

/** Debian's Chromium, without a window. @param more arguments of the command line. */
export async function openBrowser(
  more: readonly string[] = [],
): Promise<{ readonly browser: Browser; stop(): Promise<void> }> {
  const executablePath = (await output('sh', ['-c', 'command -v chromium'])).trim()
  // As root, which tests in containers are, its own sandbox does not start.
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...more]
  const browser = await chromium.launch({ executablePath, args, timeout: 2 * PATIENCE_MS })
  return { browser, stop: () => browser.close() }
}

/** A page, and what went wrong or was fetched in it. */
export interface WatchedPage {
  readonly page: Page
  /** What the console complains of, such as what a policy of the page forbids. */
  readonly complaints: string[]
  /** Everything that was requested, in order. */
  readonly requested: string[]
}

/** Opens an empty page of its own profile. */
export async function newPage(browser: Browser, options: BrowserContextOptions): Promise<WatchedPage> {
  const page = await (await browser.newContext(options)).newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const [complaints, requested]: [string[], string[]] = [[], []]
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => requested.push(`${request.method()} ${request.url()}`))
  return { page, complaints, requested }
}
