import { spawn } from 'node:child_process'
import path from 'node:path'
import { text } from 'node:stream/consumers'

const SCRIPT = path.join(import.meta.dirname, '../fixtures/logged.ts')

async function logged(wish: string): Promise<{ output: string; lines: Record<string, unknown>[] }> {
  const child = spawn(process.execPath, [SCRIPT, wish], { stdio: ['ignore', 'pipe', 'ignore'] })
  const output = await text(child.stdout)
  const written = output.split('\n').slice(0, -1)
  return { output, lines: written.map((line) => JSON.parse(line)) }
}

describe('a log', () => {
  it('contains no secret, wherever in a line it was, and shows where one was redacted', async () => {
    const { output, lines } = await logged('with-secrets')
    expect(output).not.toContain('am_us_secret')
    expect(lines).toMatchObject([
      { msg: 'member', token: '[redacted]', kept: 1 },
      { msg: 'binding', api_key: '[redacted]' },
      { msg: 'object', request: { authorization: '[redacted]', path: '/v0' }, limits: { most: 3 } },
      { msg: 'passed on', headers: { 'x-restante-authorization': '[redacted]' } },
      { msg: 'error by another name', cause: { token: '[redacted]' } },
      { msg: 'error', err: { type: 'Error', message: 'refused', detail: '[redacted]', token: '[redacted]' } },
      { msg: 'error of redis', err: { command: { name: 'hello', args: '[redacted]' } } },
    ])
  })

  it.each(['in-order', 'in-order-exit', 'in-order-error'])(
    'keeps the order of deferred and immediate lines, and loses none: %s',
    async (wish) => {
      const { lines } = await logged(wish)
      expect(lines.map(({ msg }) => msg)).toEqual(['request', 'in between', 'request'])
    },
  )

  it('contains the last line of a process that is killed', async () => {
    const { lines } = await logged('killed')
    expect(lines.map(({ msg }) => msg)).toEqual(['last words'])
  })
})
