import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { byLength } from '@restante/testkit'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { z } from 'zod'
import { authorize, connect, newAgent, ownedAgent, ownerLink } from './agent.ts'
import { claimsAt, describeInBrowser, press, shows } from './pages-in-browser.ts'

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true } as const
const NARROW = { viewport: { width: 320, height: 568 } } as const
const DESKTOP = { viewport: { width: 1280, height: 800 } } as const
type Screen = readonly [name: string, options: BrowserContextOptions]
/** The narrowest and the widest, and both sets of colours. */
const EXTREMES: readonly Screen[] = [
  ['narrow window', NARROW],
  ['desktop in dark colours', { ...DESKTOP, colorScheme: 'dark' }],
]
const SCREENS = byLength<readonly Screen[]>({
  short: EXTREMES,
  long: [
    ...EXTREMES,
    ['phone', PHONE],
    ['phone in dark colours', { ...PHONE, colorScheme: 'dark' }],
    ['desktop', DESKTOP],
  ],
})
/** Where to keep what was seen, for a look at it by a person. */
const FOLDER = process.env['RESTANTE_SCREENSHOTS']

const found = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullish(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
})

describeInBrowser('the pages of sign-in', 'openid email profile owner_profile owner_email', (suite) => {
  const { system, open } = suite
  let axe: string
  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  })

  /** Checks what a page shows now, and keeps a picture of it. */
  async function look(page: Page, screen: string, name: string): Promise<void> {
    if (FOLDER) await page.screenshot({ path: `${FOLDER}/${name}, ${screen}.png`, fullPage: true })
    const { violations } = found.parse(await page.evaluate(`(() => { ${axe}; return axe.run() })()`))
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect([name, serious]).toEqual([name, []])
    expect([name, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([name, 0])
  }

  it.each(SCREENS)('are accessible and fit the screen of a %s', async (screen, options) => {
    const human = system.peer.address(`looks-${screen.replaceAll(' ', '-')}`)
    const agent = await ownedAgent(system, human)
    const { page } = await open(options)
    const { url } = await connect(agent, suite.app.appId)
    await page.goto(url)
    await shows(page, 'Sign in to Example Research')
    await look(page, screen, 'link')
    await press(page, 'Sign in')
    await shows(page, 'Sign in to Example Research?')
    await look(page, screen, 'consent')
    await press(page, 'Allow')
    await shows(page, 'Waiting for the owner')
    await look(page, screen, 'waiting for the owner')
    const link = await ownerLink(system, human)
    const owner = await page.context().newPage()
    await owner.goto(link)
    await look(owner, screen, 'owner')
    await press(owner, 'Allow')
    await shows(owner, 'You allowed it')
    await look(owner, screen, 'owner, allowed')
    await claimsAt(page)
    await page.goto(url)
    await look(page, screen, 'link no longer valid')
    const stranger = await newAgent(system)
    await page.goto(`${suite.app.base}/login?login_hint=${encodeURIComponent(stranger.inboxId)}`)
    await shows(page, 'Waiting for an agent')
    await look(page, screen, 'waiting for an agent')
    await authorize(stranger, page)
    await shows(page, /Sign in to|Not signed in/)
    await page.goto(`${system.endpoints.signInUrl}/sessions`)
    await page.getByRole('listitem').nth(1).waitFor()
    await look(page, screen, 'sessions')
    await page.goto(`${suite.app.base}/login`)
    await shows(page, 'Which inbox signs in')
    await look(page, screen, 'choice')
    await page.goto(`${system.endpoints.signInUrl}/v0/authorize?client_id=none`)
    await look(page, screen, 'error')
    await page.context().close()
  })

  it('are run with the keyboard alone', async () => {
    const agent = await newAgent(system)
    const { page } = await open(DESKTOP)
    await page.goto((await connect(agent, suite.app.appId, { accept_disclosure: false })).url)
    await shows(page, 'Sign in to Example Research')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in')
    await page.keyboard.press('Enter')
    await shows(page, /Sign in to Example Research\?|Not signed in/)
    await page.context().close()
  })

  it('load files that browsers keep for good, and answer for their other versions', async () => {
    const { signInUrl } = system.endpoints
    const html = await (await fetch(`${signInUrl}/sessions`)).text()
    const [, script = ''] = /src="([^"]+sessions\.js)"/.exec(html) ?? []
    const first = await fetch(`${signInUrl}${script}`)
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    const etag = first.headers.get('etag') ?? ''
    expect((await fetch(`${signInUrl}${script}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const other = await fetch(`${signInUrl}${script.replace(/assets\/[^/]+/, 'assets/of-another-release')}`)
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-cache'])
    expect((await fetch(`${signInUrl}${script.replace('sessions.js', 'tsconfig.json')}`)).status).toBe(404)
  })
})
