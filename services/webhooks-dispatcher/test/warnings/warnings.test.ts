import { Database, sql } from '@restante/service/database'
import { WebhookReceiver, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { Subscription } from '../requested/subscription.ts'

let dispatcher: TestDispatcher
let gatewayDb: Database
let receiver: WebhookReceiver
beforeAll(async () => {
  dispatcher = await startDispatcher()
  gatewayDb = new Database({ url: dispatcher.gateway.databaseUrl, applicationName: 'test' })
})
afterAll(async () => {
  await gatewayDb.stop()
  await dispatcher.stop()
})
beforeEach(async () => {
  receiver = await new WebhookReceiver().start()
  receiver.always(500)
  dispatcher.mail.mails.clear()
  dispatcher.mail.sends = 0
})
afterEach(async () => {
  await dispatcher.clear()
  await receiver.stop()
})

const setHuman = sql<unknown, [organizationId: string, human: string, type: string | null]>(
  'update organizations set human_email = $2, authentication_type = $3 where id = $1',
)
const setClock = sql<unknown, [webhookId: string, hours: number, warned: number | null]>(
  `update webhooks set failing_since = now() - interval '1 hour' * ($2 + 12), clock_started_at = now() - interval '1 hour' * $2,
     warned_at = coalesce(now() - interval '1 hour' * $3, warned_at) where id = $1`,
)
const ageMail = sql<unknown, [organizationId: string]>(
  `update warned_organizations set mailed_at = mailed_at - interval '1 day' where organization_id = $1`,
)
const enabled = sql<{ enabled: boolean }, [webhookId: string]>('select enabled from webhooks where id = $1')
const notices = sql<{ count: number }, [webhookId: string]>(
  'select count(*)::int as count from webhook_notices where webhook_id = $1',
)

/** A webhook that fails, of an organization with a human. */
async function failing(human = `human-${crypto.randomUUID()}@people.test`, type: string | null = 'agent_verified') {
  const own = await Subscription.make(dispatcher, receiver, { url: `${receiver.url}/secret-path?token=secret-token` })
  await gatewayDb.query(setHuman, own.tenant.id, human, type)
  return { own, human }
}

/** Makes an attempt fail when the clock has run for this long. @param warned hours since the warning. Null: as it is. */
async function failAfter(own: Subscription, hours: number, warned: number | null = null): Promise<void> {
  // Counted before: a retry of an earlier event may be the attempt that this clock decides about.
  const known = receiver.requests.length
  await dispatcher.db.query(setClock, own.id, hours, warned)
  await own.receive()
  // An attempt that had begun before may have been decided by this clock, and then there is none for the new event.
  const isOver = async () =>
    receiver.requests.length > known || (await dispatcher.db.query(enabled, own.id))[0]?.enabled === false
  await waitFor(isOver, { what: 'the attempt' })
}

const mailsTo = (human: string) => [...dispatcher.mail.mails.values()].filter(({ to }) => to === human)
const mailed = (human: string, count = 1) =>
  waitFor(() => mailsTo(human).length >= count && mailsTo(human), {
    what: `${count} mails to the human`,
  })
/** A mail that had to wait for a day: the timer may be put off once more while it is being made due. */
const mailedNow = (human: string, count = 1) =>
  waitFor(
    async () => {
      await dispatcher.hurry()
      return mailsTo(human).length >= count && mailsTo(human)
    },
    { what: `${count} mails to the human` },
  )
const concluded = (own: Subscription) =>
  waitFor(async () => (await dispatcher.db.query(notices, own.id))[0]?.count === 0, {
    what: 'the mail to be concluded',
  })

describe('the owner of a failing webhook', () => {
  it('is mailed once at half the time, and at the disabling, a day apart at least', async () => {
    const { own, human } = await failing()
    await failAfter(own, 59)
    await failAfter(own, 61)
    const [first] = await mailed(human)
    expect(first?.subject).toBe('A webhook is failing')
    expect(first?.text).toContain(`${own.id} at ${new URL(receiver.url).host}\n  failing since `)
    expect(first?.text).toContain('failures: status 500')
    await concluded(own)
    await failAfter(own, 70)
    await failAfter(own, 121, 61)
    await waitFor(async () => (await own.log()).some(({ state }) => state === 'dropped'), { what: 'the disabling' })
    await dispatcher.hurry()
    expect(mailsTo(human)).toHaveLength(1)
    await dispatcher.db.query(ageMail, own.tenant.id)
    const [, second] = await mailedNow(human, 2)
    expect(second?.subject).toBe('A webhook is disabled')
    expect(second?.text).toContain('disabled, failing since')
  })

  it('is warned by the first failure after days without an event, and has half of the time from then', async () => {
    const { own, human } = await failing()
    await failAfter(own, 144)
    const [warning] = await mailed(human)
    expect(warning?.subject).toBe('A webhook is failing')
    await concluded(own)
    await failAfter(own, 200, 59)
    await own.logged(2, 'retrying')
    expect(await dispatcher.db.query(enabled, own.id)).toEqual([{ enabled: true }])
    await failAfter(own, 202, 61)
    await own.logged(3, 'dropped')
    expect(await dispatcher.db.query(enabled, own.id)).toEqual([{ enabled: false }])
  })

  it('reads ids, hosts and kinds of failure, and nothing of a path, a secret or an event', async () => {
    const { own, human } = await failing()
    await failAfter(own, 61)
    const [mail] = await mailed(human)
    for (const secret of ['secret-path', 'secret-token', own.secret, 'customer.test', 'Order 1182'])
      expect(JSON.stringify(mail)).not.toContain(secret)
  })

  it('gets one mail about several webhooks', async () => {
    const { own, human } = await failing()
    await dispatcher.db.query(
      sql<unknown, [id: string]>('insert into warned_organizations values ($1, now())'),
      own.tenant.id,
    )
    const body = { url: receiver.url, event_types: ['message.received'] }
    const other = await dispatcher.webhook(own.caller, body)
    await dispatcher.db.query(setClock, other.webhook_id, 121, 61)
    await failAfter(own, 61)
    await waitFor(
      async () => {
        const counts = await Promise.all([own.id, other.webhook_id].map((id) => dispatcher.db.query(notices, id)))
        return counts.every(([row]) => row?.count === 1)
      },
      { what: 'both notices' },
    )
    await dispatcher.db.query(ageMail, own.tenant.id)
    const [mail] = await mailedNow(human)
    expect(mail?.subject).toBe('Webhooks are disabled')
    for (const id of [own.id, other.webhook_id]) expect(mail?.text).toContain(id)
  })

  it('gets the same mail again, which is one, when the answer to the first was lost', async () => {
    const { own, human } = await failing()
    dispatcher.mail.failing = 503
    await failAfter(own, 61)
    await waitFor(
      async () => {
        await dispatcher.hurry()
        return dispatcher.mail.sends >= 2
      },
      { what: 'the mail to be handed over again' },
    )
    await concluded(own)
    expect(mailsTo(human)).toHaveLength(1)
  })

  it('gets no mail when the webhook has recovered before it was written', async () => {
    const { own, human } = await failing()
    await dispatcher.db.query(
      sql<unknown, [id: string]>('insert into warned_organizations values ($1, now())'),
      own.tenant.id,
    )
    await failAfter(own, 61)
    await own.logged(1, 'retrying')
    receiver.always(200)
    await own.receive()
    await waitFor(async () => (await own.log()).some(({ state }) => state === 'delivered'), { what: 'the success' })
    await dispatcher.db.query(ageMail, own.tenant.id)
    await waitFor(
      async () => {
        await dispatcher.hurry()
        return (await dispatcher.db.query(notices, own.id))[0]?.count === 0
      },
      { what: 'the warning to be concluded' },
    )
    expect(mailsTo(human)).toEqual([])
  })

  it.each([['was not verified', 'agent_unverified']])('gets no mail when the address %s', async (_what, type) => {
    const { own, human } = await failing(undefined, type)
    await failAfter(own, 61)
    await own.logged(1, 'retrying')
    await concluded(own)
    expect(mailsTo(human)).toEqual([])
  })
})
