import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { freePort, waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from './gateway.ts'

const MAIN = path.resolve(import.meta.dirname, '../src/main.ts')
/** The time as seen by a process whose machine is 40 days ahead. */
const AHEAD = `data:text/javascript,${encodeURIComponent(`
  const Real = Date
  const by = 40 * 86_400_000
  globalThis.Date = class extends Real {
    constructor(...given) { given.length > 0 ? super(...given) : super(Real.now() + by) }
    static now() { return Real.now() + by }
  }`)}`

const makeDue = sql<never>("update timers set due_at = now() where kind in ('sweep', 'inactive-organizations')")
const setAnew = sql<{ within: string }>(`
select case when due_at < now() + interval '2 h' then 'hours' when due_at < now() + interval '2 d' then 'days' else 'longer' end as within
  from timers where kind in ('sweep', 'inactive-organizations') and due_at > now() + interval '50 m' order by due_at`)

describe('a gateway whose clock is 40 days ahead of the database’s', () => {
  let gateway: TestGateway
  let ahead: ChildProcess

  beforeAll(async () => {
    const more = { UNVERIFIED_ORGANIZATION_PERIOD: '30d' }
    gateway = await startGateway(more)
    const PORT = String(await freePort())
    const env = { PATH: process.env['PATH'], ...gateway.env, ...more, PORT }
    ahead = spawn(process.execPath, ['--import', AHEAD, MAIN], { env, stdio: 'ignore' })
    await waitFor(async () => (await fetch(`http://127.0.0.1:${PORT}/readyz`)).ok, {
      what: 'it to be ready',
      timeout: 60_000,
    })
  })
  afterAll(async () => {
    ahead.kill()
    if (ahead.exitCode === null) await once(ahead, 'exit')
    await gateway.stop()
  })

  it('deletes nothing before its time', async () => {
    const { body } = await gateway.as().post('/v0/agent/sign-up', { username: 'idle', human_email: 'ida@people.test' })
    const organizationId = String(body['organization_id'])
    const { id, api } = await gateway.organization()
    await api.post('/v0/inboxes', { username: 'retired' })
    await api.delete('/v0/inboxes/retired@restante.test')
    const { row } = await gateway.operator.createKey({ organizationId: id })
    const yesterday = new Date(Date.now() - 86_400_000)
    await gateway.db.orm.credential.update({ where: { id: row.id }, data: { expiresAt: yesterday } })

    await gateway.service.stop()
    await gateway.db.query(makeDue)
    const looked = async () => (await gateway.db.query(setAnew)).length === 2
    await waitFor(looked, { what: 'its look at everything' })
    expect((await gateway.db.query(setAnew)).map(({ within }) => within)).toEqual(['hours', 'days'])

    const { orm } = gateway.db
    expect(await orm.organization.findUnique({ where: { id: organizationId } })).toMatchObject({ deletingAt: null })
    expect(await orm.verificationCode.count({ where: { organizationId } })).toBe(1)
    expect(await orm.retiredAddress.count()).toBe(1)
    expect(await orm.credential.count({ where: { id: row.id } })).toBe(1)
  })
})
