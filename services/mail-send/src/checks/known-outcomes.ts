import { topics } from '@restante/contracts/events'
import type { Check, CheckPage, Finding } from '@restante/contracts/internal'
import { decodeEvent, type Kafka, readEnvelope, recordedSince } from '@restante/messaging'
import { type Database, type Queryable, sql } from '@restante/service/database'

const topic = topics['mail.deliveries']

/** What an event of this service says about one recipient; without a recipient, about all that are not finished. */
interface Told {
  readonly inbox: string
  readonly message: string
  readonly recipient: string | null
  readonly state: 'delivered' | 'bounced' | 'rejected'
}

type Values = [
  inboxes: readonly string[],
  messages: readonly string[],
  recipients: readonly (string | null)[],
  states: readonly string[],
]

const CONTRADICTED = `
select distinct on (d.id) d.id, d.recipient, s.message_id, told.state
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as told (inbox, message, recipient, state)
  join sends s on s.inbox_uid = told.inbox and s.message_id = told.message
  join deliveries d on d.send_id = s.id and (told.recipient is null or d.recipient = told.recipient)
 where d.state in ('queued', 'handing_over', 'deferred')`
const FIND = sql<{ id: string; recipient: string; message_id: string; state: string }, Values>(
  `${CONTRADICTED} order by d.id`,
)
// Counting an attempt takes the delivery from one that is being made, whose outcome then cannot be recorded.
const CONCLUDE = sql<{ id: string }, Values>(`
with known as materialized (${CONTRADICTED}), concluded as (
  update deliveries
     set state = known.state, attempts = attempts + 1, updated_at = now()
    from known
   where deliveries.id = known.id and deliveries.state in ('queued', 'handing_over', 'deferred')
  returning deliveries.id, deliveries.send_id, deliveries.state
), sent as (
  update sends
     set handed_over_at = case when ended.delivered then coalesce(handed_over_at, now()) else handed_over_at end,
         rejected_at = case when ended.rejected then coalesce(rejected_at, now()) else rejected_at end
    from (select send_id, bool_or(state = 'delivered') as delivered, bool_or(state = 'rejected') as rejected
            from concluded group by send_id) as ended
   where sends.id = ended.send_id
)
select id from concluded`)

/**
 * Checks deliveries that are not finished against what this service published about them: after its database was put back
 * from a backup, what had been delivered since then is due again. A repair ends such deliveries as the events say, so that
 * no recipient gets a mail twice. What was delivered and not published yet when the database was lost cannot be known.
 */
export function knownOutcomesCheck({ db, kafka }: { readonly db: Database; readonly kafka: Kafka }): Check {
  return async ({ after, since, repair, restored }): Promise<CheckPage> => {
    if (since === undefined || !restored.includes('mail-send')) return { examined: 0, findings: [] }
    const { records, next } = await recordedSince(kafka, [topic], { since: new Date(since), after })
    const told = records.flatMap((record) => toldBy(readEnvelope(record)))
    const found = told.length > 0 ? await contradicted(db, told) : []
    if (repair && found.length > 0) await db.query(CONCLUDE, ...valuesOf(told))
    return {
      examined: records.length,
      findings: found.map(
        ({ message_id, recipient, state }): Finding => ({
          subject: `${message_id} to ${recipient}`,
          problem: `it is due again, and was ${state} after the backup`,
          state: repair ? 'repaired' : 'open',
        }),
      ),
      ...(next !== undefined && { next }),
    }
  }
}

function contradicted(on: Queryable, told: readonly Told[]) {
  return on.query(FIND, ...valuesOf(told))
}

function toldBy(recorded: Parameters<typeof decodeEvent>[1]): Told[] {
  const event = decodeEvent(topic, recorded)
  switch (event.type) {
    case 'delivery.delivered':
    case 'delivery.bounced': {
      const state = event.type === 'delivery.delivered' ? 'delivered' : 'bounced'
      const { inbox_uid: inbox, message_id: message, recipients } = event.payload
      return recipients.map((recipient) => ({ inbox, message, recipient, state }))
    }
    case 'delivery.rejected': {
      const { inbox_uid: inbox, message_id: message } = event.payload
      return [{ inbox, message, recipient: null, state: 'rejected' }]
    }
    default:
      return []
  }
}

function valuesOf(told: readonly Told[]): Values {
  return [
    told.map(({ inbox }) => inbox),
    told.map(({ message }) => message),
    told.map(({ recipient }) => recipient),
    told.map(({ state }) => state),
  ]
}
