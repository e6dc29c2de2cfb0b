import { type SpanContext, TraceFlags, trace } from '@opentelemetry/api'
import type { TopicDefinition } from '@restante/contracts/events'
import { sql } from '@restante/service/database'
import { z } from 'zod'
import { EventTooLargeError, InvalidEventError, Outbox } from '../../src/index.ts'
import { encodeHeaders } from '../../src/kafka/envelope.ts'
import { ADD_EFFECT, letters, MessagingFixture, posted, until } from '../fixture.ts'

const ROWS = sql<{
  id: string
  payload: string
  headers: Record<string, string>
  published_at: Date | null
  refused: string | null
}>('select id, payload, headers, published_at, refused from outbox order by position')

describe('the outbox', () => {
  let fixture: MessagingFixture
  beforeAll(async () => {
    fixture = await MessagingFixture.open()
  })
  afterAll(() => fixture.close())

  it('publishes nothing of a transaction that was rolled back', async () => {
    const relay = await fixture.relay()
    const lost = posted('rolled-back', 1)
    const rollback = fixture.db.transaction(async (tx) => {
      await tx.query(ADD_EFFECT, lost.key, 1, '')
      await fixture.outbox.add(tx, letters, lost)
      throw new Error('changed my mind')
    })
    await expect(rollback).rejects.toThrow('changed my mind')
    await fixture.post(posted('kept', 2))
    await until(async () => (await fixture.db.query(ROWS)).every((row) => row.published_at !== null))
    expect(await fixture.count('letters')).toBe(1)
    expect(await fixture.effects()).toEqual([])
    await relay.stop()
  })

  it('refuses an event too large for Kafka before the transaction commits', async () => {
    const before = (await fixture.db.query(ROWS)).length
    const huge = fixture.post(posted('box', 1), posted('box', 2, 'x'.repeat(900 * 1024)))
    await expect(huge).rejects.toThrow(EventTooLargeError)
    expect(await fixture.db.query(ROWS)).toHaveLength(before)
  })

  it('refuses a payload that does not match its type, an unknown type, and a topic of another service', async () => {
    const wrong = { ...posted('box', 1), payload: { text: 'no number', number: 1.5 } }
    await expect(fixture.post(wrong)).rejects.toThrow(InvalidEventError)
    const foreign = new Outbox({ db: fixture.db, service: 'gateway' })
    const attempt = fixture.db.transaction((tx) => foreign.add(tx, letters, posted('box', 1)))
    await expect(attempt).rejects.toThrow('only mail-ingest publishes to letters')
  })

  it('writes the value byte for byte as validated, with the envelope and the trace in headers', async () => {
    const context: SpanContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: TraceFlags.SAMPLED }
    const span = trace.wrapSpanContext(context)
    const event = posted('box', 7, 'grüße')
    const original = trace.getActiveSpan
    trace.getActiveSpan = () => span
    try {
      await fixture.post(event)
    } finally {
      trace.getActiveSpan = original
    }
    const row = (await fixture.db.query(ROWS)).find(({ id }) => id === event.id)
    expect(row?.payload).toBe('{"text":"grüße","number":7}')
    expect(row?.headers).toEqual({
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: 'letter.posted',
      ce_source: '/restante/mail-ingest',
      ce_subject: 'box/7',
      ce_time: event.time.toISOString(),
      'content-type': 'application/json',
      ce_organizationid: event.routing.organizationId,
      ce_inboxuid: event.routing.inboxUid,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    })
  })

  it('lists restricted labels in order and omits absent routing', () => {
    const headers = encodeHeaders('/restante/test', {
      ...posted('box', 1),
      routing: { organizationId: 'o', podId: 'p', restricted: ['spam', 'trash'] },
    })
    expect(headers).toMatchObject({ ce_podid: 'p', ce_restricted: 'spam,trash' })
    expect(headers).not.toHaveProperty('ce_inboxuid')
  })
})

describe('a row of the outbox', () => {
  const AGE = sql<never, [id: string, publishedHours: number | null, refusedDays: number | null]>(`
update outbox
   set published_at = now() - $2 * interval '1 hour', created_at = now() - coalesce($3, 0) * interval '1 day',
       refused = case when $3 is null then null else 'too large' end
 where id = $1`)

  it('is kept an hour once published, as long as dead letters when refused, and without limit while it waits', async () => {
    const fixture = await MessagingFixture.open()
    try {
      const [justNow, hourAgo, lately, longAgo] = [1, 2, 3, 4].map((number) => posted('box', number))
      if (!justNow || !hourAgo || !lately || !longAgo) throw new Error('no events')
      const waiting = posted('box', 5)
      // On a topic that does not exist, so that it waits.
      const missing = { ...letters, name: 'not-there' } as const satisfies TopicDefinition
      await fixture.post(justNow, hourAgo, lately, longAgo)
      await fixture.db.transaction((tx) => fixture.outbox.add(tx, missing, waiting))
      await fixture.db.query(AGE, justNow.id, 0.9, null)
      await fixture.db.query(AGE, hourAgo.id, 1.1, null)
      await fixture.db.query(AGE, lately.id, null, 13)
      await fixture.db.query(AGE, longAgo.id, null, 15)
      await fixture.relay()
      const left = await until(async () => {
        const rows = await fixture.db.query(ROWS)
        return rows.length < 4 && rows
      })
      expect(left.map(({ id }) => id)).toEqual([justNow.id, lately.id, waiting.id])
    } finally {
      await fixture.close()
    }
  })
})

describe('a record that Kafka rejects permanently', () => {
  const small = { ...letters, name: 'small' } as const satisfies TopicDefinition
  const missing = {
    ...letters,
    name: 'missing',
    events: { 'letter.posted': { schema: z.object({ text: z.string(), number: z.int() }), summary: '' } },
  } as const satisfies TopicDefinition

  it('is parked with the reason while everything else is published; a missing topic holds up no other', async () => {
    const fixture = await MessagingFixture.open([letters, small])
    try {
      await fixture.kafka.administrate((admin) =>
        admin.alterConfigs({
          validateOnly: false,
          resources: [
            {
              type: 2,
              name: fixture.kafka.physical('small'),
              configEntries: [{ name: 'max.message.bytes', value: '2000' }],
            },
          ],
        }),
      )
      // Random text, because compression would make a repetition fit.
      const noise = Array.from({ length: 3_000 }, () => Math.random().toString(36).slice(2)).join('')
      const refused = posted('box', 2, noise)
      await fixture.db.transaction(async (tx) => {
        await fixture.outbox.add(tx, missing, posted('box', 0))
        await fixture.outbox.addAll(tx, small, [posted('box', 1), refused, posted('box', 3)])
        await fixture.outbox.add(tx, letters, posted('box', 4))
      })
      await fixture.relay()
      const rows = await until(async () => {
        const found = await fixture.db.query(ROWS)
        // The refused row is parked after the others are marked.
        return found.filter((row) => row.published_at !== null || row.refused !== null).length === 4 && found
      })
      expect(rows.map((row) => row.refused !== null)).toEqual([false, false, true, false, false])
      expect(rows[0]?.published_at).toBeNull()
      expect(await fixture.count('small')).toBe(2)
      expect(await fixture.count('letters')).toBe(1)
    } finally {
      await fixture.close()
    }
  })
})
