/** Publishes the rows of an outbox: with the relay of the services, or the same records with bare kafkajs. */
import { topics } from '@restante/contracts/events'
import { Outbox, Relay } from '@restante/messaging'
import { Database, sql } from '@restante/service/database'
import { testKafka, waitFor } from '@restante/testkit'
import { z } from 'zod'
import { inputOf, reportToParent, startClock } from './parent.ts'

const { prefix, database, mode } = inputOf(
  z.object({ prefix: z.string(), database: z.url(), mode: z.enum(['relay', 'bare']) }),
)
const kafka = testKafka(prefix)
const db = new Database({ url: database, applicationName: 'bench' })

/** `CompressionTypes.GZIP` of kafkajs, which only libs/messaging imports. */
const GZIP = 1
/** The batch size of the relay. */
const BATCH = 400

interface OutboxRow {
  readonly key: string
  readonly payload: string
  readonly headers: Record<string, string>
}

async function relayAll(): Promise<void> {
  const outbox = new Outbox({ db, service: 'mail-ingest' })
  const relay = new Relay({ kafka, db, outbox })
  const unpublished = sql<{ waits: boolean }>('select exists (select from outbox where published_at is null) as waits')
  await relay.start()
  const empty = async () => (await db.query(unpublished))[0]?.waits === false
  await waitFor(empty, { what: 'the outbox to be empty', timeout: 600_000, interval: 20 })
}

async function produceAll(rows: readonly OutboxRow[]): Promise<void> {
  const producer = kafka.producer()
  await producer.connect()
  for (let at = 0; at < rows.length; at += BATCH) {
    const messages = rows.slice(at, at + BATCH).map(({ key, payload, headers }) => ({ key, value: payload, headers }))
    await producer.send({ topic: kafka.physical(topics['mail.messages'].name), acks: -1, compression: GZIP, messages })
  }
}

const rows =
  mode === 'bare' ? await db.query(sql<OutboxRow>('select key, payload, headers from outbox order by position')) : []
const clock = startClock()
await (mode === 'bare' ? produceAll(rows) : relayAll())
reportToParent(clock())
