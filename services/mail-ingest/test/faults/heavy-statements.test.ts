import { randomUUID } from 'node:crypto'
import { sql } from '@restante/service/database'
import { queryRows, sendMail, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf } from '../mailbox-fixture.ts'
import { withoutRetries } from './without-retries.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
  // As PostgreSQL ends a statement that takes too long.
  const giveUp = `raise exception 'canceling statement due to statement timeout' using errcode = '57014'`
  for (const [name, condition] of [
    ['heavy', `new.text like 'heavy%'`],
    ['renewed', 'new.lease_id = old.lease_id and new.leased_until > old.leased_until'],
  ] as const) {
    await queryRows(
      fixture.db,
      `create function ${name}() returns trigger language plpgsql as
       $$ begin if ${condition} then ${giveUp}; end if; return new; end $$`,
    )
  }
  await queryRows(
    fixture.db,
    'create trigger heavy before insert on message_bodies for each row execute function heavy()',
  )
})
afterAll(() => fixture.stop())

const ATTEMPTS = sql<{ attempts: number }>('select attempts from inbound where leased_until is null')

async function send({ address: to }: TestInbox, text: string): Promise<string> {
  const messageId = `<${randomUUID()}@customer.test>`
  await sendMail({ port: fixture.smtpPort, from: 'ada@customer.test', to, subject: text, text, messageId })
  return messageId
}
const get = (inbox: TestInbox, id: string) => fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))

async function stored(inbox: TestInbox, id: string) {
  await waitFor(async () => (await get(inbox, id)).status === 200, { what: id })
  return (await get(inbox, id)).body
}

async function outages(): Promise<number> {
  const metrics = await (await fetch(fixture.metricsUrl)).text()
  return Number(/^restante_mail_attempts_total{.*outcome="outage".*} (\d+)/m.exec(metrics)?.[1] ?? 0)
}

describe('a mail whose statement takes too long', () => {
  it('holds up no other inbox, and is stored unparsed after three attempts, before later mail', async () => {
    const [victim, other] = [await fixture.inbox(), await fixture.inbox()]
    const outagesBefore = await outages()
    const { heavy, behind } = await withoutRetries(fixture.db, async () => {
      const ids = { heavy: await send(victim, 'heavy'), behind: await send(victim, 'behind') }
      const elsewhere = await send(other, 'elsewhere')
      expect(await stored(other, elsewhere)).toMatchObject({ subject: 'elsewhere' })
      expect((await get(victim, ids.heavy)).status).toBe(404)
      return ids
    })
    const last = await stored(victim, behind)
    const first = await stored(victim, heavy)
    expect(first).not.toHaveProperty('text')
    expect(first.subject).toBe('heavy')
    expect(first.created_at <= last.created_at).toBe(true)
    expect(await outages()).toBe(outagesBefore)
  })

  it('does not count an attempt while small statements take too long as well', async () => {
    await queryRows(
      fixture.db,
      'create trigger renewed before update on inbound for each row execute function renewed()',
    )
    const inbox = await fixture.inbox()
    const before = await outages()
    const id = await send(inbox, 'heavy')
    await waitFor(async () => (await outages()) >= before + 2, { what: 'two attempts' })
    const [row] = await waitFor(
      async () => {
        const rows = await fixture.db.query(ATTEMPTS)
        return rows.length > 0 && rows
      },
      { what: 'the mail in the queue' },
    )
    expect(row?.attempts).toBe(0)
    await queryRows(fixture.db, 'drop trigger heavy on message_bodies')
    expect(await stored(inbox, id)).toMatchObject({ text: expect.stringContaining('heavy') })
  })
})
