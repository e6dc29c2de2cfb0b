import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../processes.ts'
import { readSettings, root } from '../settings.ts'

describe('the state of the local stack', () => {
  let state: string
  beforeAll(async () => {
    state = await mkdtemp(join(tmpdir(), 'state-'))
  })
  afterAll(() => rm(state, { recursive: true }))

  const modeOf = async (...names: string[]) => ((await stat(join(state, ...names))).mode & 0o777).toString(8)

  it('is accessible to its user only: files of an earlier start, and those that this one and its children write', async () => {
    await chmod(state, 0o755)
    for (const name of ['logs', 'blobs']) {
      await mkdir(join(state, name))
      await writeFile(join(state, name, 'old'), '')
      await chmod(join(state, name), 0o755)
    }
    const program = `
      const { keepToOwner } = await import('${join(root, 'deploy/local/state.ts')}')
      const { readSettings } = await import('${join(root, 'deploy/local/settings.ts')}')
      const { startDetached } = await import('${join(root, 'deploy/local/processes.ts')}')
      const settings = readSettings(process.env)
      await keepToOwner(settings)
      const log = settings.logs + '/stack.log'
      const child = await startDetached('sh', ['-c', 'echo key; mkdir "$0"; echo x > "$0/file"', settings.state + '/made'], { log })
      child.ref()
      await new Promise((resolve) => child.once('exit', resolve))`
    const env = { ...process.env, RESTANTE_STATE: state }
    await run(process.execPath, ['--input-type=module', '-e', program], { env, cwd: join(root, 'deploy/local') })
    expect(await modeOf()).toBe(process.getuid?.() === 0 ? '711' : '700')
    expect(await Promise.all(['logs', 'blobs', 'made'].map((name) => modeOf(name)))).toEqual(['700', '700', '700'])
    expect(await modeOf('logs', 'stack.log')).toBe('600')
    expect(await modeOf('made', 'file')).toBe('600')
    expect(readSettings(env).logs).toBe(join(state, 'logs'))
  })
})
