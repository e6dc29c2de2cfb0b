import { sql } from '@restante/service/database'
import { countRows, waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from '../gateway.ts'

const age = sql<never, [organizationId: string]>(`
with organization as (update organizations set created_at = now() - interval '31 d', updated_at = now() - interval '31 d' where id = $1)
update credentials set created_at = now() - interval '31 d', used_at = now() - interval '31 d' where organization_id = $1`)
const makeDue = sql<never>("update timers set due_at = now() where kind = 'inactive-organizations'")
const isDone = sql<{ done: boolean }>(
  "select due_at > now() + interval '50 m' as done from timers where kind = 'inactive-organizations'",
)

describe('inactive unverified organizations', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ UNVERIFIED_ORGANIZATION_PERIOD: '30d' })
  })
  afterAll(() => gateway.stop())

  let serial = 0
  /** An organization of an agent, as it is a month after its sign-up. */
  async function old() {
    const { body } = await gateway.as().post('/v0/agent/sign-up', { username: `idle${++serial}` })
    const id = String(body['organization_id'])
    await gateway.db.query(age, id)
    return { id, key: String(body['api_key']) }
  }

  async function look(): Promise<void> {
    await gateway.db.query(makeDue)
    await waitFor(async () => (await gateway.db.query(isDone))[0]?.done, { what: 'the look at all of them' })
  }

  it('are deleted with their inbox; the audit log records why', async () => {
    const { id, key } = await old()
    await look()
    expect((await gateway.as(key).get('/v0/auth/me')).status).toBe(401)
    await waitFor(() => gateway.operator.isGone(id), { what: 'the end of the organization' })
    const entries = await gateway.db.orm.auditEntry.findMany({ where: { organizationId: id } })
    const deleting = entries.find(({ action }) => action === 'organization.deleting')
    expect(deleting).toMatchObject({ actorKind: 'system', actorId: 'inactivity' })
  })

  it('stay when a key was used, mail arrived, or they are verified or the operator’s', async () => {
    const [used, received, verified, changed] = [await old(), await old(), await old(), await old()]
    await gateway.db.orm.credential.updateMany({ where: { organizationId: used.id }, data: { usedAt: new Date() } })
    gateway.behind.received.add(received.id)
    await gateway.db.orm.organization.update({
      where: { id: verified.id },
      data: { authenticationType: 'agent_verified' },
    })
    await gateway.db.orm.organization.update({ where: { id: changed.id }, data: { updatedAt: new Date() } })
    const ordinary = await gateway.organization()
    await gateway.db.query(age, ordinary.id)
    await look()
    const states = await gateway.db.orm.organization.findMany({
      where: { id: { in: [used.id, received.id, verified.id, changed.id, ordinary.id] } },
    })
    expect(states.map(({ deletingAt }) => deletingAt)).toEqual([null, null, null, null, null])
  })

  it('stay while the mailbox service is down', async () => {
    const { id } = await old()
    gateway.behind.down = true
    try {
      await look()
      expect(await gateway.operator.isGone(id)).toBe(false)
    } finally {
      gateway.behind.down = false
    }
    await look()
    await waitFor(() => gateway.operator.isGone(id), { what: 'the end of the organization' })
  })

  it('stay when no period is configured', async () => {
    const other = await startGateway()
    try {
      expect(await countRows(other.db, `timers where kind = 'inactive-organizations'`)).toBe(0)
    } finally {
      await other.stop()
    }
  })
})
