import type { StoringName } from '@restante/contracts/vocabulary'
import pg from 'pg'
import type { Endpoints } from '../../stack/endpoints.ts'
import type { Times } from './arrivals.ts'

/** Steps of a mail between `250` and delivery, as the databases of the services record them. */
export const STEPS = ['stored', 'published', 'logged for streams', 'queued for webhooks'] as const
export type Step = (typeof STEPS)[number]

/** When each mail reached each step. */
export type Timeline = Readonly<Record<Step, Times>>

/**
 * Reads the timeline of every mail so far. The times of `stored`, `logged` and `queued` are the starts of the
 * transactions that did it, so the time after a step includes its commit.
 */
export async function readTimeline(endpoints: Endpoints): Promise<Timeline> {
  const published = await read<Published>(endpoints, 'mail-ingest', PUBLISHED)
  const messageIds = new Map(published.map(({ event_id, message_id }) => [event_id, message_id]))
  const consumed = async (service: StoringName): Promise<Times> => {
    const rows = await read<Consumed>(endpoints, service, CONSUMED)
    return new Map(rows.flatMap(({ event_id, at }) => entry(messageIds.get(event_id), at)))
  }
  return {
    stored: new Map(published.flatMap(({ message_id, stored }) => entry(message_id, stored))),
    published: new Map(published.flatMap(({ message_id, published: at }) => entry(message_id, at))),
    'logged for streams': await consumed('websocket-fanout'),
    'queued for webhooks': await consumed('webhooks-dispatcher'),
  }
}

interface Published {
  readonly event_id: string
  readonly message_id: string
  readonly stored: number
  readonly published: number
}

const PUBLISHED = `
select id as event_id, payload::jsonb->'message'->>'message_id' as message_id,
       (extract(epoch from created_at) * 1000)::float8 as stored,
       (extract(epoch from published_at) * 1000)::float8 as published
  from outbox where type = 'message.received' and published_at is not null`

interface Consumed {
  readonly event_id: string
  readonly at: number
}

const CONSUMED = 'select event_id, (extract(epoch from consumed_at) * 1000)::float8 as at from consumed'

async function read<Row extends pg.QueryResultRow>(
  endpoints: Endpoints,
  service: StoringName,
  query: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: endpoints.databases[service] })
  await client.connect()
  try {
    return (await client.query<Row>(query)).rows
  } finally {
    await client.end()
  }
}

function entry(messageId: string | undefined, at: number): [string, number][] {
  return messageId === undefined ? [] : [[messageId, at - performance.timeOrigin]]
}
