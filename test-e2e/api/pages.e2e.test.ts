import { byLength } from '@restante/testkit'
import type { BrowserContextOptions } from 'playwright-core'
import { z } from 'zod'
import { newPage, openBrowser } from '../support/programs/browser.ts'
import { describeWith } from '../support/programs/programs.ts'
import { useSystem } from '../support/suite.ts'

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const DESKTOP = { viewport: { width: 1280, height: 800 } }
type Screen = readonly [name: string, options: BrowserContextOptions & typeof DESKTOP]
/** Both sizes, both sets of colours, with scripts and without. */
const EXTREMES: readonly Screen[] = [
  ['phone', PHONE],
  ['desktop, in dark colours, without scripts', { ...DESKTOP, colorScheme: 'dark', javaScriptEnabled: false }],
]
const SCREENS = byLength<readonly Screen[]>({
  short: EXTREMES,
  long: [...EXTREMES, ['phone, in dark colours', { ...PHONE, colorScheme: 'dark' }], ['desktop', DESKTOP]],
})
/** Pages with long code, wide tables and lists. */
const READ = ['Guide for agents', 'Routes and permissions', 'API reference']
/** Where to keep what was seen, for a look at it by a person. */
const FOLDER = process.env['RESTANTE_SCREENSHOTS']

describeWith({ programs: ['chromium'] }, 'the pages of the gateway', () => {
  const system = useSystem()
  let chromium: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    chromium = system.cleanUp(await openBrowser())
  })

  it.each(SCREENS)('lead from the start page to the guides, and fit: %s', async (name, options) => {
    const { gatewayUrl } = system.endpoints
    const { page, complaints, requested } = await newPage(chromium.browser, options)
    const fits = async (what: string) => {
      if (FOLDER) await page.screenshot({ path: `${FOLDER}/${name} ${what}.png` })
      const main = await page.locator('main').boundingBox()
      expect([what, main?.x ?? -1, main?.width]).toEqual([what, expect.any(Number), expect.any(Number)])
      expect((main?.x ?? 0) + (main?.width ?? 0)).toBeLessThanOrEqual(options.viewport.width)
      expect(main?.x).toBeGreaterThanOrEqual(0)
    }
    for (const title of READ) {
      await page.goto(gatewayUrl)
      expect(await page.getByRole('status').textContent()).toMatch(/^(Healthy|Some parts are not available)$/)
      await fits('start')
      await page.getByRole('link', { name: title, exact: true }).click()
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      await fits(title)
    }
    // Nothing comes from elsewhere, and nothing on the pages is against their own policy.
    expect(requested.filter((one) => !one.includes(` ${gatewayUrl}/`))).toEqual([])
    expect(complaints.filter((one) => !one.includes('404'))).toEqual([])
    await page.context().close()
  })

  it('lead from an error to what it means', async () => {
    const { gatewayUrl } = system.endpoints
    const { page } = await newPage(chromium.browser, PHONE)
    const refused = z.object({ docs: z.string() }).parse(await (await fetch(`${gatewayUrl}/v0/inboxes`)).json())
    await page.goto(refused.docs)
    const entry = page.locator(':target')
    expect(await entry.textContent()).toBe('missing_authorization')
    const place = await entry.boundingBox()
    expect(place?.y).toBeGreaterThanOrEqual(0)
    expect(place?.y).toBeLessThan(PHONE.viewport.height)
    await page.context().close()
  })

  it('show a command that signs an agent up as it stands', async () => {
    const { gatewayUrl } = system.endpoints
    const text = await (await fetch(`${gatewayUrl}/llms.txt`)).text()
    const [, address = '', body = ''] = /`curl (\S+) -d '([^']+)'`/.exec(text) ?? []
    expect(new URL(address).origin).toBe(new URL(gatewayUrl).origin)
    const answer = await fetch(address, {
      method: 'POST',
      body: JSON.stringify({ ...JSON.parse(body), username: `pages-${Date.now()}` }),
    })
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ api_key: expect.any(String) }),
    ])
  })
})
