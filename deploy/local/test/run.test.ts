import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../settings.ts'

describe('a program run in the local stack', () => {
  /** Without a running stack: nothing listens on the port of the discard protocol. */
  async function run(...words: string[]) {
    const env = { ...process.env, RESTANTE_GATEWAY_PORT: '9' }
    const program = ['run', 'gateway', 'services/gateway/src/admin/main.ts', ...words]
    return promisify(execFile)(process.execPath, [join(root, 'deploy/local/main.ts'), ...program], { env, cwd: root })
  }

  it.each([[['--help']], [['help', 'keys']]])('shows its help with %j', async (words) => {
    expect((await run(...words)).stdout).toContain('Usage: npm run admin --')
  })

  it('explains how to start the stack when a command needs it', async () => {
    const failure = { code: 1, stderr: expect.stringContaining('`npm start` starts it') }
    await expect(run('organizations', 'list')).rejects.toMatchObject(failure)
  })
})
