import { byLength } from '@restante/testkit'
import type { BrowserContextOptions } from 'playwright-core'
import { newPage, openBrowser } from '../../support/programs/browser.ts'
import { describeWith } from '../../support/programs/programs.ts'
import { useSystem } from '../../support/suite.ts'
import { newUsername } from '../../support/tenants.ts'

const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 3,
  isMobile: true,
  hasTouch: true,
}
const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 } }
type Screen = readonly [name: string, options: BrowserContextOptions]
/** The narrowest and the widest, both sets of colours, fingers and keys, with scripts and without. */
const EXTREMES: readonly Screen[] = [
  ['desktop', DESKTOP],
  ['narrow phone, in dark colours', { ...PHONE, viewport: { width: 320, height: 568 }, colorScheme: 'dark' }],
  ['browser without scripts', { viewport: { width: 800, height: 600 }, javaScriptEnabled: false }],
]
const SCREENS = byLength<readonly Screen[]>({
  short: EXTREMES,
  long: [...EXTREMES, ['desktop, in dark colours', { ...DESKTOP, colorScheme: 'dark' }], ['phone', PHONE]],
})
/** Where to keep what was seen, for a look at it by a person. */
const FOLDER = process.env['RESTANTE_SCREENSHOTS']
/** Smallest height of what a finger has to hit (WCAG 2.5.5). */
const FINGER = 44

describeWith({ programs: ['chromium'] }, 'the page behind a link to unsubscribe', () => {
  const system = useSystem()
  let chromium: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    chromium = system.cleanUp(await openBrowser())
  })

  async function mailed() {
    const { client, api } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const to = system.peer.address(`${newUsername()}-${'with-a-long-name-'.repeat(2)}x`)
    const send = async () =>
      (await api.post(`/v0/inboxes/${encodeURIComponent(inboxId)}/messages/send`, { to, text: 'Hello' })).status
    expect(await send()).toBe(200)
    const { raw } = await system.peer.server.next(to)
    const [, link = ''] = /^List-Unsubscribe: <(\S+)>/m.exec(raw.toString()) ?? []
    return { to, link, send }
  }

  it.each(SCREENS)('asks, and unsubscribes when the button is pressed: %s', async (name, options) => {
    const { to, link, send } = await mailed()
    const { page, complaints, requested } = await newPage(chromium.browser, options)
    const look = async (what: string) => {
      if (FOLDER) await page.screenshot({ path: `${FOLDER}/${name} ${what}.png` })
      const width = options.viewport?.width ?? 0
      const main = await page.locator('main').boundingBox()
      expect(main).toMatchObject({ x: expect.any(Number) })
      expect((main?.x ?? -1) >= 0 && (main?.x ?? 0) + (main?.width ?? width + 1) <= width).toBe(true)
    }
    const answer = await page.goto(link)
    expect(answer?.status()).toBe(200)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Unsubscribe')
    const shown = `${to[0]}•••${to.slice(to.indexOf('@'))}`
    expect(await page.locator('main').textContent()).toContain(shown)
    await look('asks')
    const button = page.getByRole('button', { name: 'Unsubscribe' })
    const box = await button.boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(FINGER)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(options.viewport?.height ?? 0)
    expect(await send()).toBe(200)
    if (options.hasTouch) await button.tap()
    else {
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
    }
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
    expect(await page.getByRole('status').textContent()).toContain(shown)
    await look('is done')
    expect(await send()).toBe(403)
    // The page loads nothing but itself, and nothing in it is against its own policy.
    expect(requested.filter((one) => !one.endsWith('/favicon.ico'))).toEqual([`GET ${link}`, `POST ${link}`])
    expect(complaints).toEqual([])
    await page.goto(link)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('You are unsubscribed')
    await page.context().close()
  })

  it('says of an altered link that it does not work, and changes nothing', async () => {
    const { link, send } = await mailed()
    const { page } = await newPage(chromium.browser, PHONE)
    const answer = await page.goto(`${link.slice(0, -8)}xxxxxxxx`)
    expect(answer?.status()).toBe(404)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This link does not work')
    expect(await page.getByRole('button').count()).toBe(0)
    expect(await send()).toBe(200)
    await page.context().close()
  })
})
