import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startScreen } from '../screen.ts'
import { readSettings } from '../settings.ts'

describe('the screen of `npm start`', () => {
  let state: string
  beforeEach(async () => {
    state = await mkdtemp(join(tmpdir(), 'screen-'))
  })
  afterEach(() => rm(state, { recursive: true }))

  const shown = () => startScreen(readSettings({ RESTANTE_STATE: state, RESTANTE_PORT_OFFSET: '100' }))
  const line = (key: string) =>
    `  claude mcp add --transport http restante http://127.0.0.1:3100/mcp --header "Authorization: Bearer ${key}"`

  it('begins with what to paste for a language model, with the key of the local organization', async () => {
    const organization = { organization_id: 'one', api_key: 'am_us_local' }
    await writeFile(join(state, 'organization.json'), JSON.stringify(organization))
    expect((await shown()).split('\n').filter((text) => text.startsWith('  '))[0]).toBe(line('am_us_local'))
  })

  it('leaves the place of the key open where the organization was created otherwise', async () => {
    expect(await shown()).toContain(line('<API key>'))
  })
})
