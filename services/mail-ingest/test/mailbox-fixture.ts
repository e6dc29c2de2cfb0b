import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import type { Caller } from '@restante/contracts/access'
import type { SentCopy } from '@restante/contracts/schemas'
import { Outbox } from '@restante/messaging'
import { sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import type { Tenancy } from '@restante/tenancy'
import { countRows, type Submission, sendMail, waitFor } from '@restante/testkit'
import { RawMailBytes } from '../src/raw/bytes.ts'
import { openTenancy } from '../src/tenancy/open-tenancy.ts'
import type { Fixture, TestInbox } from './fixture.ts'

/** Too large for a row: a mail with this text is stored in the blob store. */
export const LARGE_TEXT = `${'A line of a large mail.'.repeat(3)}\r\n`.repeat(600)

const STORED = sql<{ message_id: string }, [inboxUid: string, subject: string]>(
  'select message_id from messages where inbox_uid = $1 and subject = $2',
)

/** Delivers a mail by SMTP and waits until it is stored. @returns its message_id */
export async function receiveMail(
  fixture: Fixture,
  inbox: TestInbox,
  mail: Omit<Submission, 'port'> = {},
): Promise<string> {
  const subject = mail.subject ?? `mail ${randomUUID()}`
  const common = { from: 'Ada Ray <ada@customer.test>', to: inbox.address, text: 'Hello' }
  await sendMail({ port: fixture.smtpPort, ...common, ...mail, subject })
  const [row] = await waitFor(
    async () => {
      const rows = await fixture.db.query(STORED, inbox.inbox_uid, subject)
      return rows.length > 0 && rows
    },
    { what: `the mail "${subject}"` },
  )
  return row?.message_id ?? ''
}

/** What mail-send says of a message that it accepted, its raw mail in the shared store. */
export async function sentCopy(
  fixture: Fixture,
  inbox: TestInbox,
  { text = '', ...overrides }: Partial<SentCopy> & { readonly text?: string } = {},
): Promise<SentCopy> {
  const message_id = `<${randomUUID()}@mail.test>`
  const raw = Buffer.from(
    `From: ${inbox.address}\r\nTo: bo@customer.test\r\nSubject: Offer\r\nMessage-ID: ${message_id}\r\n` +
      `Content-Type: text/plain\r\n\r\nOur offer.\r\n\r\n> your question\r\n${text}`,
  )
  const blobs = await openBlobStore(`directory:${fixture.blobs}`)
  const name = `outbound/${randomUUID()}`
  const { size, sha256 } = await blobs.put(name, raw)
  return {
    organization_id: inbox.organization_id,
    pod_id: inbox.pod_id,
    inbox_uid: inbox.inbox_uid,
    message_id,
    thread_id: randomUUID(),
    timestamp: '2026-11-20T10:00:00.000Z',
    from: `Desk <${inbox.address}>`,
    to: ['Bo <bo@customer.test>'],
    subject: 'Offer',
    labels: ['campaign'],
    extracted_text: 'Our offer.',
    blob: { name, size, sha256 },
    ...overrides,
  }
}

/** A key of the same scope that may read, change and delete messages, but sees no restricted label unless one is named. */
export const restricted = (caller: Caller, ...permissions: string[]): Caller => ({
  ...caller,
  credential: {
    ...caller.credential,
    permissions: ['message_read', 'message_update', 'message_delete', ...permissions],
  },
})

export const pathOf = (messageId: string): string => `/messages/${encodeURIComponent(messageId)}`

/** The part of another process that follows deletions. It is not started: a test delivers events to it, and purges. */
export async function tenancyOf({ db, topics, blobs }: Fixture): Promise<Tenancy> {
  const { tenancy } = openTenancy({
    kafka: topics.kafka,
    db,
    log: createLogger({ service: 'test', level: 'silent' }),
    outbox: new Outbox({ db, service: 'mail-ingest' }),
    bytes: new RawMailBytes({ db, blobs: await openBlobStore(`directory:${blobs}`) }),
  })
  return tenancy
}

/** Purges a deleted scope by a tenancy of `tenancyOf`. The running service purges, too, and may be at it. */
export async function purgeScope({ db }: Fixture, tenancy: Tenancy, id: string): Promise<void> {
  await waitFor(
    async () => {
      await tenancy.purge()
      return (await countRows(db, 'deleted_scopes where id = $1 and purged_at is not null', id)) > 0
    },
    { what: `the purge of ${id}` },
  )
}

/** Waits until all mail that was accepted is processed. */
export async function untilProcessed({ db }: Fixture): Promise<void> {
  await waitFor(async () => (await countRows(db, 'inbound')) === 0, { what: 'an empty queue' })
}
