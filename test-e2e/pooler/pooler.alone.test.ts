import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { Database, sql } from '@restante/service/database'
import { createDatabase, describeAtFullLength, urlOf } from '@restante/testkit'
import { PgBouncer } from './pgbouncer.ts'

const JEST = path.join(root, 'node_modules/jest/bin/jest.js')
const LONGEST_MS = 1_800_000

describeAtFullLength({ programs: ['pgbouncer'] }, 'PgBouncer in transaction mode', () => {
  let pooler: PgBouncer
  beforeAll(async () => {
    pooler = await PgBouncer.start()
  })
  afterAll(() => pooler?.stop())

  it('shares a connection between clients, so that each transaction may get another one', async () => {
    const database = await createDatabase(path.join(root, 'services/gateway'))
    const url = new URL(pooler.url)
    url.pathname = new URL(urlOf(database.name)).pathname
    const open = () => new Database({ url: url.href, prepared: false, applicationName: 'test', poolSize: 1 })
    const clients = Array.from({ length: 20 }, open)
    const backend = sql<{ pid: number; timeout: string; jit: string }>(
      "select pg_backend_pid() as pid, current_setting('statement_timeout') as timeout, current_setting('jit') as jit",
    )
    const rows = (await Promise.all(clients.map((client) => client.query(backend)))).flat()
    expect(new Set(rows.map(({ pid }) => pid)).size).toBeLessThanOrEqual(5)
    expect(new Set(rows.map(({ timeout, jit }) => `${timeout} ${jit}`))).toEqual(new Set(['10s off']))
    await Promise.all(clients.map((client) => client.stop()))
    await database.drop()
  })

  it(
    'passes every test of the gateway',
    async () => {
      const { RESTANTE_TEST_REPORT: _, ...environment } = process.env
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', JEST, '--maxWorkers=2', 'services/gateway/test'],
        {
          cwd: root,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...environment, RESTANTE_TEST_POOLER_URL: pooler.url, RESTANTE_TEST_LENGTH: 'short' },
        },
      )
      const printed: Buffer[] = []
      for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => printed.push(chunk))
      const [code] = await once(child, 'close')
      const report = Buffer.concat(printed).toString()
      expect({ code, failures: report.match(/^ {2}●.*$/gm) ?? [] }).toEqual({ code: 0, failures: [] })
      expect(Number(/^(\d+) passed, 0 failed$/m.exec(report)?.[1])).toBeGreaterThan(100)
    },
    LONGEST_MS,
  )
})
