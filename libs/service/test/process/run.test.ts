import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

const FIXTURE = path.join(import.meta.dirname, '../fixtures/process.ts')

interface Running {
  readonly child: ChildProcess
  readonly lines: string[]
  /** When each line was logged, in milliseconds. */
  readonly times: number[]
  /** Resolves when the process has written this message. */
  says(message: string): Promise<void>
  exit(): Promise<number | null>
  errors(): string
}

function start(environment: Record<string, string>): Running {
  const child = spawn(process.execPath, [FIXTURE], {
    env: { PATH: process.env['PATH'] ?? '', KEY: '0123456789abcdef', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [lines, times]: [string[], number[]] = [[], []]
  const output = createInterface({ input: child.stdout })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  output.on('line', (line) => {
    const { msg, time } = JSON.parse(line)
    lines.push(msg)
    times.push(new Date(time).getTime())
  })
  const exited = once(child, 'close')
  return {
    child,
    lines,
    times,
    says: async (message) => {
      while (!lines.includes(message))
        await Promise.race([once(output, 'line'), exited.then(() => Promise.reject(new Error(errors)))])
    },
    exit: async () => (await exited)[0],
    errors: () => errors,
  }
}

describe('run', () => {
  it('starts the components in order and stops them in reverse on SIGINT, even when one fails to stop', async () => {
    const running = start({ GRACE: '10s' })
    await running.says('ready')
    running.child.kill('SIGINT')
    expect(await running.exit()).toBe(0)
    expect(running.lines).toEqual([
      'first starts',
      'second starts',
      'ready',
      'draining',
      'second stops',
      'component did not stop cleanly',
      'first stops',
      'stopped',
    ])
  })

  it('keeps serving for a while on SIGTERM before the components stop', async () => {
    const running = start({ GRACE: '10s' })
    await running.says('ready')
    running.child.kill('SIGTERM')
    expect(await running.exit()).toBe(0)
    const at = (message: string) => running.times[running.lines.indexOf(message)] ?? Number.NaN
    expect(at('second stops') - at('draining')).toBeGreaterThan(1_000)
  })

  it('exits with 1 and the reason when a component does not start, after stopping the started ones', async () => {
    const running = start({ MODE: 'fails at start', GRACE: '10s' })
    expect(await running.exit()).toBe(1)
    expect(running.lines).toEqual(['first starts', 'second starts', 'first stops', 'service failed to start'])
  })

  it.each(['hangs at start', 'hangs at stop'])(
    'exits with 1 after the grace period when a component %s',
    async (mode) => {
      const running = start({ MODE: mode })
      await running.says(mode === 'hangs at start' ? 'second starts' : 'ready')
      running.child.kill('SIGINT')
      expect(await running.exit()).toBe(1)
      expect(running.lines).toContain('drain exceeded SHUTDOWN_GRACE, exiting')
    },
  )

  it('ends with 0 when a component leaves a timer running, and reports it', async () => {
    const running = start({ MODE: 'leaves a timer', GRACE: '10s' })
    await running.says('ready')
    running.child.kill('SIGINT')
    expect(await running.exit()).toBe(0)
    expect(running.lines.slice(-2)).toEqual(['stopped', 'handles left open after the stop, exiting'])
  })

  it('exits at once when the same signal comes twice', async () => {
    const running = start({ MODE: 'hangs at stop', GRACE: '60s' })
    await running.says('ready')
    running.child.kill('SIGINT')
    await running.says('second stops')
    running.child.kill('SIGINT')
    await running.exit()
    expect(running.child.signalCode).toBe('SIGINT')
  })

  it('exits with 1 and one message that names every wrong variable and no value', async () => {
    const running = start({ MODE: 'bad', GRACE: 'soon', KEY: 'hunter2' })
    expect(await running.exit()).toBe(1)
    for (const name of ['MODE', 'GRACE', 'KEY']) expect(running.errors()).toContain(name)
    expect(running.errors()).not.toContain('hunter2')
    expect(running.lines).toEqual([])
  })
})
