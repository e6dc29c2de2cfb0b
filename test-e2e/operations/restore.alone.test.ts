import { readdir, readFile, utimes } from 'node:fs/promises'
import path from 'node:path'
import type { StoringName } from '@restante/contracts/vocabulary'
import { engineNames } from '@restante/local/engines/engine.ts'
import { canRun } from '@restante/local/engines/packages.ts'
import { describeAtFullLength, operate, PATIENCE_MS, waitFor } from '@restante/testkit'
import { repeated } from '../faults/harness/counts.ts'
import { INSTALLATION_TIMEOUT } from '../faults/harness/installation.ts'
import { isLarge } from '../faults/harness/mail-source.ts'
import { Api } from '../support/api.ts'
import { check } from '../support/check-command.ts'
import { mailTo } from '../support/mail.ts'
import { createTenant, type Tenant } from '../support/tenants.ts'
import { type Course, rehearse } from './restore/course.ts'
import { Rehearsal } from './restore/rehearsal.ts'
import type { Scene, Waiting } from './restore/scene.ts'

const PROGRAMS = ['bash', 'pg_dump', 'pg_restore', 'psql', 'tar']
const CASE_TIMEOUT = 600_000
const ALL: readonly StoringName[] = ['gateway', 'domains-dns', 'mail-send', 'mail-ingest', 'webhooks-dispatcher']
const native = await canRun(engineNames)

describeAtFullLength(
  { programs: PROGRAMS, missing: native ? [] : ['native engines'] },
  'a backup that was taken and restored with mail flowing, by the commands of docs/backup.md,',
  () => {
    let rehearsal: Rehearsal
    beforeAll(async () => {
      rehearsal = await Rehearsal.start()
    }, INSTALLATION_TIMEOUT)
    afterAll(() => rehearsal?.stop(), INSTALLATION_TIMEOUT)

    const uidOf = (inboxId: string) =>
      rehearsal.read('gateway', 'select uid as value from inboxes where address = $1 and deleted_at is null', inboxId)
    const gone = async (service: StoringName, rows: string, id: string) => {
      await waitFor(async () => (await rehearsal.count(service, rows, id)) === 0, {
        what: `the rows of ${service} to go: ${rows}`,
        timeout: 2 * PATIENCE_MS,
      })
    }

    it(
      'of mail-send alone loses what was accepted since and not delivered, and sends nothing twice',
      async () => {
        const entry = 'since@block.example'
        const course = await rehearse(rehearsal, 'mail-send', ['mail-send'], {
          change: async ({ tenant }) => {
            expect((await tenant.api.post('/v0/lists/receive/block', { entry })).status).toBeLessThan(300)
            await waitFor(() => rehearsal.count('mail-ingest', LISTED, entry), { what: 'the entry at mail-ingest' })
          },
        })
        const { scene, mails, replies, fresh, inside, repaired } = course
        await expectWholeMail(course)
        expectNothingTwice(course)
        // No mail that was received is lost, and none is reported twice: mail-ingest was not restored.
        const stored = await scene.stored()
        for (const id of [...mails.before, ...mails.since, ...mails.after]) expect(stored).toContain(id)
        expect(await scene.inside()).toEqual(expect.arrayContaining([inside.before, inside.since]))
        // What was accepted since is lost unless it was delivered, and its copy shows which.
        await expectCopyOnly(scene, fresh)
        for (const { inboxId, messageId } of replies.since) {
          const isDelivered = (await scene.labelsOf(inboxId, messageId))?.includes('delivered')
          expect({ messageId, isDelivered }).toEqual({ messageId, isDelivered: arrivals(scene, messageId) === 1 })
        }
        // What was due at the backup and delivered since would have been sent again.
        expect(repaired.found).toContainEqual(
          expect.objectContaining({ check: 'outcomes', subject: expect.stringContaining(course.later.messageId) }),
        )
        // An entry that was made since is lost where it is kept, and where it was copied to.
        expect(await rehearsal.count('mail-ingest', LISTED, entry)).toBe(0)
        await finish(course)
      },
      CASE_TIMEOUT,
    )

    it(
      'of mail-ingest alone loses mail that was received since, and gets back what other stores know',
      async () => {
        const entry = 'kept@block.example'
        let [doomed, uid, removed] = ['', '', { inboxId: '', messageId: '' }]
        const course = await rehearse(rehearsal, 'mail-ingest', ['mail-ingest'], {
          prepare: async (scene) => {
            doomed = (await scene.tenant.client.inboxes.create({})).inboxId
            uid = await uidOf(doomed)
            await mailTo(scene, doomed)
            removed = await mailTo(scene, scene.neighbour)
          },
          change: async ({ tenant }) => {
            await tenant.client.inboxes.delete(doomed)
            await tenant.client.inboxes.messages.delete(removed.inboxId, removed.messageId)
            expect((await tenant.api.post('/v0/lists/receive/block', { entry })).status).toBeLessThan(300)
            await gone('gateway', 'inboxes where uid = $1', uid)
          },
          restored: async () => {
            expect(await rehearsal.count('mail-ingest', OF_INBOX, uid)).toBe(1)
          },
          repaired: () => gone('mail-ingest', OF_INBOX, uid),
        })
        const { scene, mails, replies, fresh, inside, onItsWay } = course
        await expectWholeMail(course)
        await expectLost(course)
        const { webhooks } = scene
        // Only mail that was in the queue at the backup is reported again, and as another event.
        expect(webhooks.toldByTwoEvents('message.received').length).toBeLessThanOrEqual(onItsWay.mails)
        for (const type of ['message.sent', 'message.delivered']) expect(webhooks.toldByTwoEvents(type)).toEqual([])
        for (const type of TYPES) expect(webhooks.toldUnderTwoIds(type)).toEqual([])
        expect(webhooks.acceptedTwice()).toEqual([])
        // Copies of sent mail are back with their outcomes, also those of messages that were sent since.
        await expectDelivered(scene, fresh)
        for (const { inboxId, messageId } of [...replies.before, ...replies.since])
          expect(await scene.labelsOf(inboxId, messageId)).toContain('delivered')
        expect(arrivals(scene, fresh.messageId)).toBe(1)
        expect(await scene.inside()).toEqual([inside.before])
        expect(await rehearsal.count('mail-ingest', LISTED, entry)).toBe(1)
        // A message that was deleted since is back, an inbox is not.
        expect(await scene.labelsOf(removed.inboxId, removed.messageId)).toContain('received')
        expect((await scene.tenant.api.get(`/v0/inboxes/${encodeURIComponent(doomed)}`)).status).toBe(404)
        expect(mails.since.length).toBeGreaterThan(0)
        await expectBytesOfLost(course)
        await finish(course)
      },
      CASE_TIMEOUT,
    )

    it(
      'of all databases brings everything back to one time, and what Kafka and the object store know of the time since',
      async () => {
        let [doomed, fresh, uid, freshUid, webhook] = ['', '', '', '', '']
        let [revoked, made] = ['', '']
        let deleted: Tenant
        let [keyOfRevoked, removed] = ['', { inboxId: '', messageId: '' }]
        const { endpoints } = rehearsal.installation.system
        const statusOf = async (key: string) => (await new Api(endpoints.gatewayUrl, key).get('/v0/auth/me')).status
        const course = await rehearse(rehearsal, 'all', ALL, {
          prepare: async (scene) => {
            const { client } = scene.tenant
            doomed = (await client.inboxes.create({})).inboxId
            uid = await uidOf(doomed)
            await mailTo(scene, doomed)
            removed = await mailTo(scene, scene.neighbour)
            const { body } = await scene.tenant.api.post('/v0/api-keys', {})
            revoked = String(body['api_key_id'])
            keyOfRevoked = String(body['api_key'])
            webhook = (await client.webhooks.create({ url: 'http://127.0.0.1:9/', eventTypes: ['message.bounced'] }))
              .webhookId
            deleted = await createTenant(endpoints)
          },
          change: async (scene) => {
            const { client } = scene.tenant
            await Promise.all([
              client.apiKeys.delete(revoked),
              client.inboxes.delete(doomed),
              client.webhooks.delete(webhook),
            ])
            await client.inboxes.messages.delete(removed.inboxId, removed.messageId)
            await operate(endpoints.operator, 'organizations', 'delete', deleted.id, '--yes')
            fresh = (await client.inboxes.create({})).inboxId
            freshUid = await uidOf(fresh)
            made = (await client.apiKeys.create({})).apiKeyId
            await gone('gateway', 'inboxes where uid = $1', uid)
            await gone('gateway', 'organizations where id = $1', deleted.id)
          },
          lose: () => rehearsal.emptyStreamLog(),
          restored: async () => {
            // Until the repair, what was deleted can be used: the page says to keep traffic out.
            expect(await uidOf(doomed)).toBe(uid)
            expect([await statusOf(keyOfRevoked), await statusOf(deleted.key)]).toEqual([200, 200])
          },
          accepts: ({ subject }) => subject === `key ${made}`,
          repaired: async (scene) => {
            await waitFor(async () => (await statusOf(keyOfRevoked)) === 401, { what: 'the key to end' })
            expect(await statusOf(deleted.key)).toBe(401)
            expect((await scene.tenant.api.get(`/v0/inboxes/${encodeURIComponent(doomed)}`)).status).toBe(404)
            expect(await uidOf(fresh)).toBe(freshUid)
          },
        })
        const { scene, inside, onItsWay, replies, settled, repaired } = course
        expect(repaired.left.map(({ subject }) => subject)).toEqual([`key ${made}`])
        await expectWholeMail(course)
        await expectLost(course)
        const { webhooks } = scene
        expect(webhooks.toldByTwoEvents('message.received').length).toBeLessThanOrEqual(onItsWay.mails)
        expect(webhooks.toldUnderTwoIds('message.received').length).toBeLessThanOrEqual(onItsWay.events)
        expect(webhooks.acceptedTwice().length).toBeLessThanOrEqual(onItsWay.webhooks)
        // Outcomes since the backup are reported again, as the same events: webhooks-dispatcher has lost that it did.
        for (const type of ['message.sent', 'message.delivered']) {
          expect(webhooks.toldByTwoEvents(type)).toEqual([])
          expect(webhooks.toldUnderTwoIds(type).filter((id) => settled.has(id))).toEqual([])
        }
        // The copies of what was sent since are back, although mail-send has lost the messages.
        await expectCopyOnly(scene, course.fresh)
        for (const { inboxId, messageId } of [...replies.before, ...replies.since])
          expect(await scene.labelsOf(inboxId, messageId)).toContain('delivered')
        expect(await scene.inside()).toEqual([inside.before])
        // A single message and a webhook that were deleted since are back, and stay.
        expect(await scene.labelsOf(removed.inboxId, removed.messageId)).toContain('received')
        expect((await scene.tenant.api.get(`/v0/webhooks/${webhook}`)).status).toBe(200)
        await gone('gateway', 'inboxes where uid = $1', uid)
        await gone('mail-ingest', OF_INBOX, uid)
        // Mail reaches the inbox that was created again.
        await mailTo(scene, fresh)
        await finish(course)
      },
      CASE_TIMEOUT,
    )

    /** What holds whatever was restored. */
    async function expectWholeMail({ scene, mails, replies, later, open, unpublished }: Course): Promise<void> {
      const stored = await scene.stored()
      expect(repeated(stored)).toEqual([])
      for (const id of [...mails.before, ...mails.after]) expect(stored).toContain(id)
      for (const id of mails.after) expect(scene.webhooks.events('message.received').get(id)?.size).toBe(1)
      for (const { messageId } of [...replies.before, ...replies.after, later, open])
        expect({ messageId, arrived: arrivals(scene, messageId) > 0 }).toEqual({ messageId, arrived: true })
      // Only what a server accepted in the last moment, before it was published, can come again.
      expect(scene.arrivedTwice().filter((id) => !unpublished.has(id))).toEqual([])
    }

    function expectNothingTwice({ scene: { webhooks } }: Course): void {
      for (const type of TYPES) {
        expect(webhooks.toldByTwoEvents(type)).toEqual([])
        expect(webhooks.toldUnderTwoIds(type)).toEqual([])
      }
      expect(webhooks.acceptedTwice()).toEqual([])
    }

    async function expectLost({ scene, mails }: Course): Promise<void> {
      const stored = new Set(await scene.stored())
      expect(mails.since.filter((id) => stored.has(id))).toEqual([])
      for (const id of mails.since) expect(scene.webhooks.events('message.received').get(id)?.size ?? 0).toBeLessThan(2)
    }

    /** A message that was lost is never sent, and its copy does not say that it was delivered. */
    async function expectCopyOnly(scene: Scene, { messageId }: Waiting): Promise<void> {
      expect(arrivals(scene, messageId)).toBe(0)
      const labels = await scene.labelsOf(scene.inboxes[0] ?? '', messageId)
      expect(labels).toContain('sent')
      expect(labels).not.toContain('delivered')
    }

    async function expectDelivered(scene: Scene, { messageId }: Waiting): Promise<void> {
      const isDelivered = async () => (await scene.labelsOf(scene.inboxes[0] ?? '', messageId))?.includes('delivered')
      await waitFor(isDelivered, { what: `${messageId} to be delivered`, timeout: 2 * PATIENCE_MS })
    }

    /** Bytes of mail that was lost are listed once they are older than what may still get a row, and can be read. */
    async function expectBytesOfLost({ mails }: Course): Promise<void> {
      const { blobs, endpoints } = rehearsal.installation.system
      const files = new Map<string, string>()
      const folder = path.join(blobs, 'inbound')
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
        if (entry.isFile()) files.set(`inbound/${entry.name}`, path.join(entry.parentPath, entry.name))
      for (const file of files.values()) await utimes(file, HOURS_AGO, HOURS_AGO)
      const { found } = await check(endpoints, '--only', 'mail-ingest.blobs')
      expect(found.map(({ state }) => state)).toEqual(found.map(() => 'open'))
      const texts = await Promise.all(found.map(({ subject }) => readFile(files.get(subject) ?? '', 'utf8')))
      const large = mails.since.filter((id) => isLarge(id))
      expect(large.length).toBeGreaterThan(0)
      for (const id of large) expect(texts.filter((text) => text.includes(`Message-ID: ${id}`))).toHaveLength(1)
      const deletion = ['--repair', '--delete-orphans', '--yes']
      expect(await check(endpoints, '--only', 'mail-ingest.blobs', ...deletion)).toMatchObject({ code: 0 })
    }

    /** Expects that nothing is inconsistent any more, and prints figures where they are wanted. */
    async function finish({ scene, mails, replies, onItsWay, unpublished, repaired }: Course): Promise<void> {
      const { code, found } = await check(rehearsal.installation.system.endpoints)
      expect({ code, found: found.filter((one) => one.check !== 'blobs') }).toMatchObject({ found: [] })
      if (process.env['PRINT_RESTORE'] === undefined) return
      const count = ({ before, since, after }: Course['mails'] | Course['replies']) => {
        return { before: before.length, since: since.length, after: after.length }
      }
      const figures = {
        mails: count(mails),
        replies: count(replies),
        onItsWay,
        unpublished: unpublished.size,
        arrivedTwice: scene.arrivedTwice().length,
        reportedAgain: Object.fromEntries(TYPES.map((type) => [type, scene.webhooks.toldUnderTwoIds(type).length])),
        asOtherEvents: scene.webhooks.toldByTwoEvents('message.received').length,
        found: Object.entries(Object.groupBy(repaired.found, ({ of, check: name }) => `${of} ${name}`)).map(
          ([name, all]) => `${name}: ${all?.length}`,
        ),
        runs: repaired.runs,
        took: Object.fromEntries(rehearsal.took),
      }
      process.stderr.write(`${JSON.stringify(figures, null, 1)}\n`)
    }
  },
)

const TYPES = ['message.received', 'message.sent', 'message.delivered'] as const
const HOURS_AGO = new Date(Date.now() - 2 * 3_600_000)
const LISTED = 'list_entries where entry = $1 and deleted_at is null'
const OF_INBOX = 'messages where inbox_uid = $1'

function arrivals(scene: Scene, messageId: string): number {
  return scene.arrived().filter((id) => id === messageId).length
}
