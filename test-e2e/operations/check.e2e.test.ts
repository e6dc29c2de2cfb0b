import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { ensureDeadLetters, ensureTopics } from '@restante/messaging'
import { testKafka, waitFor } from '@restante/testkit'
import pg from 'pg'
import { currentRun } from '../stack/run.ts'
import { check, runAdmin } from '../support/check-command.ts'
import { mailTo } from '../support/mail.ts'
import { useOwnSystem } from '../support/suite.ts'
import { createTenant } from '../support/tenants.ts'

const LARGE = 'A line of a letter that does not fit into a row.\n'.repeat(1_000)
const HOURS_AGO = new Date(Date.now() - 2 * 3_600_000)

describe('npm run admin -- check', () => {
  const system = useOwnSystem('check', async () => ({ SENDER_AUTH: 'trust-loopback' }))
  const databases = new Map<string, pg.Client>()

  /** One statement in the database of a service: what a restored database would be like. */
  async function sql<Row extends pg.QueryResultRow>(
    service: keyof typeof system.endpoints.databases,
    text: string,
    ...values: readonly unknown[]
  ): Promise<Row[]> {
    let client = databases.get(service)
    if (client === undefined) {
      const opened = new pg.Client({ connectionString: system.endpoints.databases[service] })
      system.cleanUp({ stop: () => opened.end() })
      databases.set(service, opened)
      client = opened
      await client.connect()
    }
    return (await client.query<Row>(text, [...values])).rows
  }
  const blobsOf = (prefix: string) => path.join(`${currentRun().folder}-check`, 'blobs', prefix)
  async function filesOf(prefix: string): Promise<string[]> {
    const entries = await readdir(blobsOf(prefix), { recursive: true, withFileTypes: true }).catch(() => [])
    return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  }
  const run = (...words: string[]) => check(system.endpoints, ...words)
  const newInbox = async () => (await system.tenant.client.inboxes.create({})).inboxId
  const uidOf = async (address: string) =>
    (await sql<{ uid: string }>('gateway', 'select uid from inboxes where address = $1', address))[0]?.uid ?? ''

  /** Waits until metrics has counted what is in an inbox. */
  const counted = (uid: string) => {
    const text = 'select 1 from arrivals where scope_id = $1 union all select 1 from runs where scope_id = $1'
    return waitFor(async () => (await sql('metrics', text, uid)).length > 0, { what: 'the mail in metrics' })
  }

  /** Reported, repaired, and clean when it is checked again. */
  async function expectRepair(only: string, words: readonly string[], found: number): Promise<void> {
    const reported = await run('--only', only, ...words)
    expect(reported.code).toBe(1)
    expect(reported.found.map(({ state }) => state)).toEqual(Array(found).fill('open'))
    const repaired = await run('--only', only, '--repair', ...words)
    expect(repaired).toMatchObject({ code: 0 })
    expect(repaired.found.map(({ state }) => state)).toEqual(Array(found).fill('repaired'))
    expect(await run('--only', only, ...words)).toMatchObject({ code: 0, found: [] })
  }

  it('finds nothing in an installation that has received and sent mail, and prints a line per check', async () => {
    const message = await mailTo(system, await newInbox(), { text: LARGE })
    await system.tenant.client.inboxes.messages.reply(message.inboxId, message.messageId, { text: 'Fine.' })
    await waitFor(() => system.peer.server.mails.length > 0, { what: 'the reply outside' })
    const { code, stdout } = await runAdmin(system.endpoints, 'check')
    expect(stdout).toMatch(/^mail-send +copies +\d+ examined$/m)
    expect(stdout).toContain('\n0 found, 0 left.')
    expect(code).toBe(0)
  })

  it('changes nothing without --repair, and refuses what it cannot know, with exit codes for scripts', async () => {
    expect(await runAdmin(system.endpoints, 'check', '--restored', 'mail-ingest')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--since'),
    })
    expect(await runAdmin(system.endpoints, 'check', '--restored', 'redis')).toMatchObject({ code: 2 })
    const contradiction = ['--restored', 'gateway', '--since', '1h', '--repair', '--delete-unknown']
    expect(await runAdmin(system.endpoints, 'check', ...contradiction)).toMatchObject({ code: 1 })
    expect(await runAdmin(system.endpoints, 'check', '--repair', '--delete-orphans')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--yes'),
    })
  })

  it('creates an inbox again that a restored gateway has lost, with its mail', async () => {
    const inboxId = await newInbox()
    const message = await mailTo(system, inboxId)
    const uid = await uidOf(inboxId)
    await sql('gateway', 'delete from inbox_words where inbox_uid = $1', uid)
    await sql('gateway', 'delete from inboxes where uid = $1', uid)
    // Without `--restored gateway` the mail could as well be left of a lost deletion: nothing is changed.
    await counted(uid)
    const both = [
      { of: 'mail-ingest', state: 'open' },
      { of: 'metrics', state: 'open' },
    ]
    expect(await run('--only', 'inboxes', '--repair')).toMatchObject({ code: 1, found: both })
    const restored = ['--only', 'inboxes', '--restored', 'gateway', '--since', '1h']
    // Of its address only the mailbox knows, and once it is there again, nothing is wrong with its metrics either.
    const created = await run('--repair', ...restored)
    expect(created).toMatchObject({ code: 0, found: [{ of: 'mail-ingest', state: 'repaired' }] })
    expect(await run(...restored)).toMatchObject({ code: 0, found: [] })
    const read = await system.tenant.client.inboxes.messages.get(inboxId, message.messageId)
    expect(read.messageId).toBe(message.messageId)
  })

  it('deletes the mail of an inbox whose deletion was lost when it is told to, and no other', async () => {
    const [lost, kept] = [await newInbox(), await newInbox()]
    const uid = await uidOf(lost)
    await Promise.all([mailTo(system, lost), mailTo(system, kept)])
    await counted(uid)
    await sql('gateway', 'delete from inbox_words where inbox_uid = $1', uid)
    await sql('gateway', 'delete from inboxes where uid = $1', uid)
    const deleted = await run('--only', 'inboxes', '--repair', '--delete-unknown', '--yes')
    const both = [
      { of: 'mail-ingest', state: 'repaired' },
      { of: 'metrics', state: 'repaired' },
    ]
    expect(deleted).toMatchObject({ code: 0, found: both })
    const left = () => sql('mail-ingest', 'select from messages where inbox_uid = $1', uid)
    await waitFor(async () => (await left()).length === 0, { what: 'the purge' })
    expect(await sql('mail-ingest', 'select from messages where inbox_uid = $1', await uidOf(kept))).toHaveLength(1)
    expect(await run('--only', 'inboxes')).toMatchObject({ code: 0, found: [] })
  })

  it('deletes again what a restored gateway has brought back: an inbox, and a key', async () => {
    const { client } = system.tenant
    const restored = ['--restored', 'gateway', '--since', new Date().toISOString()]
    const inboxId = await newInbox()
    const uid = await uidOf(inboxId)
    const key = await client.apiKeys.create({})
    const [row] = await sql<Record<string, unknown>>('gateway', 'select * from credentials where id = $1', key.apiKeyId)
    const [inbox] = await sql<Record<string, unknown>>('gateway', 'select * from inboxes where uid = $1', uid)
    await Promise.all([client.apiKeys.delete(key.apiKeyId), client.inboxes.delete(inboxId)])
    await waitFor(async () => (await uidOf(inboxId)) === '', { what: 'the purge of the inbox' })
    for (const [table, columns] of [
      ['credentials', row],
      ['inboxes', inbox],
    ] as const) {
      const text = `insert into ${table} select * from jsonb_populate_record(null::${table}, $1::jsonb)`
      await sql('gateway', text, JSON.stringify(columns, bytesAsHex))
    }
    await sql('gateway', 'update organizations set inbox_count = inbox_count + 1 where id = $1', system.tenant.id)
    const reported = await run('--only', 'changes', ...restored)
    expect(reported.found.map(({ subject }) => subject).sort()).toEqual([`credential ${key.apiKeyId}`, `inbox ${uid}`])
    await expectRepair('changes', restored, 2)
    await expect(client.inboxes.get(inboxId)).rejects.toMatchObject({ statusCode: 404 })
  })

  it('places the copy of a sent message again, and applies events that a restored database has lost', async () => {
    const message = await mailTo(system, await newInbox())
    const sent = await system.tenant.client.inboxes.messages.reply(message.inboxId, message.messageId, {
      text: 'Fine.',
    })
    const [inbox, id] = [message.inboxId, sent.messageId]
    const read = () => system.tenant.client.inboxes.messages.get(inbox, id)
    await waitFor(async () => (await read()).labels?.includes('delivered'), { what: 'the label delivered' }).catch(
      () => {},
    )
    const forget = async () => {
      const [row] = await sql<{ id: string }>('mail-ingest', 'select id from messages where message_id = $1', id)
      await sql('mail-ingest', 'delete from messages where id = $1', row?.id)
    }
    await forget()
    await sql('mail-send', "update sends set accepted_at = now() - interval '2 minutes' where message_id = $1", id)
    await expectRepair('copies', [], 1)
    expect((await read()).messageId).toBe(id)

    await forget()
    await sql('mail-ingest', "delete from consumed where consumer = 'mail-ingest.mail.deliveries'")
    const missed = await run('--only', 'mail-ingest.events', '--repair', '--restored', 'mail-ingest', '--since', '1h')
    expect(missed).toMatchObject({ code: 0 })
    expect(missed.found[0]).toMatchObject({ subject: 'mail-ingest.mail.deliveries', state: 'repaired' })
    expect((await read()).messageId).toBe(id)
    const again = await run('--only', 'mail-ingest.events', '--restored', 'mail-ingest', '--since', '1h')
    expect(again).toMatchObject({ code: 0, found: [] })
  })

  it('ends deliveries of a restored mail-send that were made after the backup, instead of making them twice', async () => {
    const message = await mailTo(system, await newInbox())
    const { messageId } = await system.tenant.client.inboxes.messages.reply(message.inboxId, message.messageId, {
      text: 'Once only.',
    })
    const state = async () =>
      (
        await sql<{ id: string; state: string }>(
          'mail-send',
          'select d.id, d.state from deliveries d join sends s on s.id = d.send_id where s.message_id = $1',
          messageId,
        )
      )[0]
    await waitFor(async () => (await state())?.state === 'delivered', { what: 'the delivery' })
    await runAdmin(system.endpoints, 'queue', 'hold', '--everything')
    await sql('mail-send', "update deliveries set state = 'queued' where id = $1", (await state())?.id)
    await expectRepair('outcomes', ['--restored', 'mail-send', '--since', '1h'], 1)
    expect((await state())?.state).toBe('delivered')
    expect(await runAdmin(system.endpoints, 'queue', 'release', '--everything')).toMatchObject({ code: 0 })
    expect(system.peer.server.mails.filter(({ parsed }) => parsed.text?.includes('Once only.'))).toHaveLength(1)
  })

  it('schedules attempts and scheduled drafts whose timers are lost', async () => {
    const { client } = system.tenant
    const inboxId = await newInbox()
    await client.inboxes.drafts.create(inboxId, {
      to: [system.peer.address()],
      subject: 'Later',
      text: 'Later.',
      sendAt: new Date(Date.now() + 3_600_000),
    })
    await runAdmin(system.endpoints, 'queue', 'hold', '--everything')
    const { messageId } = await client.inboxes.messages.send(inboxId, {
      to: [system.peer.address()],
      subject: 'Held',
      text: 'Attempted.',
    })
    await sql('mail-send', 'delete from timers')
    await expectRepair('mail-send.timers', [], 1)
    await expectRepair('drafts', [], 1)
    await runAdmin(system.endpoints, 'queue', 'release', '--everything')
    await waitFor(() => system.peer.server.mails.some(({ parsed }) => parsed.messageId === messageId), {
      what: 'the held message outside',
    })
  })

  it('continues deletions of an inbox and of an organization that have begun and whose timers are lost', async () => {
    const inboxId = await newInbox()
    await mailTo(system, inboxId)
    const uid = await uidOf(inboxId)
    const { id } = await createTenant(system.endpoints)
    await sql('gateway', 'update inboxes set deleted_at = now() where uid = $1', uid)
    await sql('gateway', 'delete from credentials where organization_id = $1', id)
    await sql('gateway', 'update organizations set deleting_at = now() where id = $1', id)
    await expectRepair('gateway.timers', [], 2)
    const left = async () => [
      ...(await sql('gateway', 'select from inboxes where uid = $1', uid)),
      ...(await sql('mail-ingest', 'select from messages where inbox_uid = $1', uid)),
      ...(await sql('gateway', 'select from organizations where id = $1', id)),
    ]
    await waitFor(async () => (await left()).length === 0, { what: 'both deletions to end' })
  })

  it('repairs projections, also where the owner was restored and counts its versions again', async () => {
    const { api } = system.tenant
    const entry = await api.post('/v0/lists/receive/block', { entry: 'first.example' })
    expect(entry.status).toBeLessThan(300)
    await api.post('/v0/lists/receive/block', { entry: 'second.example' })
    await waitFor(async () => (await sql('mail-ingest', 'select from list_entries')).length === 2, {
      what: 'the entries at mail-ingest',
    })
    await sql('mail-ingest', "update list_entries set version = 40, deleted_at = now() where entry = 'first.example'")
    await sql('mail-ingest', "delete from list_entries where entry = 'second.example'")
    await sql(
      'mail-ingest',
      `insert into list_entries (id, organization_id, tier, scope_id, direction, type, entry, version)
       values ($1, $2, 'organization', $2, 'receive', 'block', 'third.example', 1)`,
      randomUUID(),
      system.tenant.id,
    )
    await expectRepair('lists', [], 3)
    const rows = await sql('mail-ingest', 'select entry, version::int, deleted_at from list_entries order by entry')
    expect(rows).toEqual([
      { entry: 'first.example', version: 1, deleted_at: null },
      { entry: 'second.example', version: 1, deleted_at: null },
    ])

    const { domainId } = await system.tenant.client.domains.create({ domain: `${randomUUID()}.example` })
    const projected = (service: 'mail-send' | 'mail-ingest') =>
      sql<{ id: string; version: string }>(
        service,
        'select id, version from registered_domains where domain = $1',
        domainId,
      )
    for (const service of ['mail-send', 'mail-ingest'] as const) {
      await waitFor(async () => (await projected(service)).length === 1, { what: `the domain at ${service}` })
      await sql(service, 'update registered_domains set version = 90, deleted_at = now()')
    }
    await expectRepair('domains', [], 2)
  })

  it('reports bytes that are missing, gives them up when the object store was restored, and finds them again', async () => {
    const message = await mailTo(system, await newInbox(), { text: LARGE })
    const files = await filesOf('inbound')
    for (const file of files) await rename(file, `${file}.away`)
    const reported = await run('--only', 'mail-ingest.bytes', '--repair')
    expect(reported.code).toBe(1)
    expect(reported.found.length).toBeGreaterThan(0)
    await expectRepair('mail-ingest.bytes', ['--restored', 'objects'], reported.found.length)
    expect((await system.tenant.client.inboxes.messages.get(message.inboxId, message.messageId)).text).toContain(
      'A line',
    )
    for (const file of files) await rename(`${file}.away`, file)
    const again = await run('--only', 'mail-ingest.bytes', '--repair')
    expect(again).toMatchObject({ code: 0 })
    expect(again.found).toHaveLength(reported.found.length)
  })

  it('keeps bytes that no row refers to until it is told to delete them', async () => {
    for (const prefix of ['inbound', 'outbound']) {
      const name = randomUUID()
      const folder = path.join(blobsOf(prefix), `~${createHash('sha1').update(name).digest('hex').slice(0, 2)}`)
      await mkdir(folder, { recursive: true })
      await writeFile(path.join(folder, name), 'a mail of a lost row')
      await utimes(path.join(folder, name), HOURS_AGO, HOURS_AGO)
    }
    expect(await run('--only', 'blobs', '--repair')).toMatchObject({
      code: 1,
      found: [{ state: 'open' }, { state: 'open' }],
    })
    const deleted = await run('--only', 'blobs', '--repair', '--delete-orphans', '--yes')
    expect(deleted).toMatchObject({ code: 0, found: [{ state: 'repaired' }, { state: 'repaired' }] })
    expect(await run('--only', 'blobs')).toMatchObject({ code: 0, found: [] })
  })

  it('reports an outbox that is behind, and has rejected events published again', async () => {
    await sql(
      'mail-send',
      `insert into outbox (id, topic, key, type, subject, time, headers, payload, refused)
       values ($1, 'mail.lists', $2, 'list_entry.deleted', 'x', now(), '{}', '{}', 'topic does not exist')`,
      randomUUID(),
      system.tenant.id,
    )
    const reported = await run('--only', 'mail-send.outbox')
    expect(reported).toMatchObject({ code: 1, found: [{ problem: expect.stringContaining('topic does not exist') }] })
    expect(await run('--only', 'mail-send.outbox', '--repair')).toMatchObject({
      code: 0,
      found: [{ state: 'repaired' }],
    })
    await waitFor(
      async () =>
        (await sql('mail-send', "select from outbox where subject = 'x' and published_at is null")).length === 0,
      { what: 'the event to be published' },
    )
    expect(await run('--only', 'mail-send.outbox')).toMatchObject({ code: 0, found: [] })
  })

  it('reports topics that are missing and offsets beyond the end of a topic, and corrects both', async () => {
    const kafka = testKafka(system.endpoints.topicPrefix)
    await ensureDeadLetters(kafka, 'idle.tenancy')
    await kafka.administrate((admin) =>
      admin.setOffsets({
        groupId: kafka.physical('idle.tenancy'),
        topic: kafka.physical('tenancy'),
        partitions: [{ partition: 0, offset: '999999' }],
      }),
    )
    await expectRepair('offsets', [], 1)
    await kafka.administrate((admin) => admin.deleteTopics({ topics: [kafka.physical(topics['domains.events'].name)] }))
    await waitFor(
      async () => {
        const repaired = await run('--only', 'topics', '--repair')
        return repaired.code === 0
      },
      { what: 'the topic to exist again' },
    )
    expect(await ensureTopics(kafka, Object.values(topics))).toEqual([])
  })

  it('names a service that cannot be asked, and checks the others', async () => {
    const operator = { ...system.endpoints.operator, MAIL_SEND_URL: 'http://127.0.0.1:9' }
    const { code, found } = await check({ operator }, '--only', 'outbox')
    expect(code).toBe(1)
    expect(found).toEqual([expect.objectContaining({ of: 'mail-send', state: 'open' })])
  })
})

/** Binary columns, as PostgreSQL reads them from JSON. */
function bytesAsHex(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'Buffer') return value
  return 'data' in value && Array.isArray(value.data) ? `\\x${Buffer.from(value.data).toString('hex')}` : value
}
