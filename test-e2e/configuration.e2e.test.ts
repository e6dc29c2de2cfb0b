import { spawn } from 'node:child_process'
import path from 'node:path'
import { isStoring, SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { root } from '@restante/local/settings.ts'
import { serviceCommand } from '@restante/service/process'

/** Runs a service with only these variables, until it exits. */
function run(
  service: ServiceName,
  environment: Record<string, string>,
): Promise<{ code: number | null; printed: string }> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = serviceCommand(path.join(root, 'services', service, 'src/main.ts'))
    const child = spawn(program, args, {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
      })
    }
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, printed }))
  })
}

describe('a wrong configuration', () => {
  it.each(SERVICES)('ends %s at once with one message that names every wrong variable', async (service) => {
    const { code, printed } = await run(service, { PORT: 'no port', DATABASE_URL: 'nowhere', SHUTDOWN_GRACE: 'long' })
    expect(code).toBe(1)
    const [heading, ...problems] = printed.trimEnd().split('\n')
    expect(heading).toBe(`${service}: Invalid configuration:`)
    const named = problems.map((line) => /^ {2}- ([A-Z_]+) /.exec(line)?.[1])
    const wrong = ['PORT', 'SHUTDOWN_GRACE', ...(isStoring(service) ? ['DATABASE_URL'] : [])]
    expect(named).toEqual(expect.arrayContaining(wrong))
    // Missing variables are named too, and nothing else is.
    expect(named.length).toBeGreaterThan(4)
    expect(named).not.toContain(undefined)
  })

  it('is not repeated in the message: a value may be a secret', async () => {
    const { printed } = await run('gateway', { INSTALLATION_SECRET: 'too short', DATABASE_URL: 'postgres:secret' })
    expect(printed).toContain('INSTALLATION_SECRET')
    expect(printed).not.toContain('too short')
  })
})
