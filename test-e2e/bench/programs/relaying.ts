/** Publishes what waits in an outbox: with the relay of our services, or the same records with kafkajs as it comes. */
import { topics } from '@restante/contracts'
import { Outbox, Relay } from '@restante/messaging'
import { Database, sql } from '@restante/service'
import { testKafka, waitFor } from '@restante/testkit'
import { z } from 'zod'
import { inputOf, startClock, tell } from './parent.ts'

const { prefix, database, way } = inputOf(
  z.object({ prefix: z.string(), database: z.url(), way: z.enum(['relay', 'bare']) }),
)
const kafka = testKafka(prefix)
const db = new Database({ url: database, applicationName: 'bench' })

/** kafkajs names it in an enumeration of its own package, which only libs/messaging imports. */
const GZIP = 1
/** As many as the relay takes at once. */
const BATCH = 400

interface Waiting {
  readonly key: string
  readonly payload: string
  readonly headers: Record<string, string>
}

async function relayAll(): Promise<void> {
  const outbox = new Outbox({ db, service: topics['mail.messages'].producer })
  const relay = new Relay({ kafka, db, outbox })
  const unpublished = sql<{ waits: boolean }>('select exists (select from outbox where published_at is null) as waits')
  await relay.start()
  const empty = async () => (await db.query(unpublished))[0]?.waits === false
  await waitFor(empty, { what: 'the outbox to be empty', timeout: 600_000, interval: 20 })
}

async function produceAll(rows: readonly Waiting[]): Promise<void> {
  const producer = kafka.producer()
  await producer.connect()
  for (let at = 0; at < rows.length; at += BATCH) {
    const messages = rows.slice(at, at + BATCH).map(({ key, payload, headers }) => ({ key, value: payload, headers }))
    await producer.send({ topic: kafka.physical(topics['mail.messages'].name), acks: -1, compression: GZIP, messages })
  }
}

const rows =
  way === 'bare' ? await db.query(sql<Waiting>('select key, payload, headers from outbox order by position')) : []
const clock = startClock()
await (way === 'bare' ? produceAll(rows) : relayAll())
tell(clock())
