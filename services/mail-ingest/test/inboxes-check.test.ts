import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { serviceCommand } from '@restante/service/process'
import { countRows, waitFor } from '@restante/testkit'
import { environmentOf, type Fixture, openFixture, type TestInbox } from './fixture.ts'
import { receiveMail, sentCopy } from './mailbox-fixture.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../src/tenancy/check-inboxes.ts')

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
  await receiveMail(fixture, inbox)
}, 60_000)
afterAll(() => fixture.stop(), 30_000)

interface Result {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command as an operator does. */
async function check(words: readonly string[] = [], variables: Record<string, string> = {}): Promise<Result> {
  const env = {
    PATH: process.env['PATH'],
    ...environmentOf({
      DATABASE_URL: fixture.databaseUrl,
      GATEWAY_URL: fixture.gatewayUrl,
      TOPIC_PREFIX: fixture.topics.prefix,
      BLOB_STORE: `directory:${fixture.blobs}`,
      ...variables,
    }),
  }
  const [program, ...args] = serviceCommand(PROGRAM)
  return promisify(execFile)(program, [...args, ...words], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

const messagesOf = (uid: string) => countRows(fixture.db, 'messages where inbox_uid = $1', uid)
const isMarked = async (uid: string) => (await countRows(fixture.db, 'deleted_scopes where id = $1', uid)) > 0

describe('inboxes:check', () => {
  it('lists inboxes whose deletion was lost and changes nothing; with --delete their mail is purged, and no other', async () => {
    const [lost, recreated] = [randomUUID(), randomUUID()]
    await fixture.peer(
      'mail-ingest.placeSent',
      await sentCopy(fixture, { ...inbox, inbox_uid: lost }, { from: 'gone@mail.test' }),
    )
    // Its address belongs to an inbox that was created afterwards.
    await fixture.peer('mail-ingest.placeSent', await sentCopy(fixture, { ...inbox, inbox_uid: recreated }))

    const listed = await check()
    expect(listed).toMatchObject({ code: 1, stderr: '' })
    expect(listed.stdout).toContain('3 inboxes hold mail; unknown to the gateway: 2\n')
    for (const uid of [lost, recreated]) expect(listed.stdout).toContain(`${uid}  `)
    expect(listed.stdout).not.toContain(inbox.inbox_uid)
    expect([await isMarked(lost), await isMarked(recreated)]).toEqual([false, false])

    const marked = await check(['--delete'])
    expect(marked).toMatchObject({ code: 0, stdout: expect.stringContaining('Marked deleted: 2.') })
    await waitFor(async () => (await messagesOf(lost)) + (await messagesOf(recreated)) === 0, { what: 'the purge' })
    expect(await messagesOf(inbox.inbox_uid)).toBe(1)
    expect(await isMarked(inbox.inbox_uid)).toBe(false)
    expect(await check()).toMatchObject({ code: 0, stdout: '1 inboxes hold mail; unknown to the gateway: 0\n' })
  }, 60_000)

  it('fails and marks nothing deleted while the gateway does not answer', async () => {
    const failed = await check(['--delete'], { GATEWAY_URL: 'http://127.0.0.1:9' })
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('gateway') })
    expect(await isMarked(inbox.inbox_uid)).toBe(false)
  })

  it('explains itself when it is given an unknown option', async () => {
    expect(await check(['--purge'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--delete') })
  })
})
