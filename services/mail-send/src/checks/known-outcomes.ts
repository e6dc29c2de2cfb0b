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
  /** `handed_over` says of the message that it has left. */
  readonly state: 'delivered' | 'bounced' | 'rejected' | 'handed_over'
}

type Values = [
  inboxes: readonly string[],
  messages: readonly string[],
  recipients: readonly (string | null)[],
  states: readonly string[],
]

const TOLD = `unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
       with ordinality as told (inbox, message, recipient, state, place)`
// A delivery can have two events, delivered and then bounced. The later one counts, even if an earlier page of events had
// the first.
const CONTRADICTED = `
select distinct on (d.id) d.id, d.send_id, d.recipient, s.message_id, told.state
  from ${TOLD}
  join sends s on s.inbox_uid = told.inbox and s.message_id = told.message
  join deliveries d on d.send_id = s.id and (told.recipient is null or d.recipient = told.recipient)
 where told.state <> 'handed_over'
   and (d.state in ('queued', 'handing_over', 'deferred') or (d.state = 'delivered' and told.state = 'bounced'))
 order by d.id, told.place desc`
const DEPARTED = `
select distinct s.id, s.message_id
  from ${TOLD}
  join sends s on s.inbox_uid = told.inbox and s.message_id = told.message
 where told.state = 'handed_over' and s.handed_over_at is null`
const FIND = sql<{ id: string; send_id: string; recipient: string; message_id: string; state: string }, Values>(
  CONTRADICTED,
)
const FIND_DEPARTED = sql<{ id: string; message_id: string }, Values>(DEPARTED)
// Counting an attempt takes the delivery from one that is being made, whose outcome then cannot be recorded.
const CONCLUDE = sql<{ id: string }, Values>(`
with known as materialized (${CONTRADICTED}), departed as materialized (${DEPARTED}), concluded as (
  update deliveries
     set state = known.state, attempts = attempts + 1, updated_at = now()
    from known
   where deliveries.id = known.id
     and (deliveries.state in ('queued', 'handing_over', 'deferred')
          or (deliveries.state = 'delivered' and known.state = 'bounced'))
  returning deliveries.id, deliveries.send_id, deliveries.state
), marked as (
  update sends
     set handed_over_at = case when facts.has_left then coalesce(handed_over_at, now()) else handed_over_at end,
         rejected_at = case when facts.rejected then coalesce(rejected_at, now()) else rejected_at end
    from (select send_id, bool_or(has_left) as has_left, bool_or(rejected) as rejected
            from (select send_id, state = 'delivered' as has_left, state = 'rejected' as rejected from concluded
                  union all
                  select id, true, false from departed) as each
           group by send_id) as facts
   where sends.id = facts.send_id
)
select id from concluded`)

/**
 * Checks deliveries that are not finished against what this service published about them: after its database was put back
 * from a backup, what had been delivered since then is due again. A repair ends such deliveries as the events say, so that
 * no recipient gets a mail twice, and marks messages that have left, so that none is reported as sent twice, or as rejected
 * after it was sent. What was delivered and not published yet when the database was lost cannot be known.
 */
export function knownOutcomesCheck({ db, kafka }: { readonly db: Database; readonly kafka: Kafka }): Check {
  return async ({ after, since, repair, restored }): Promise<CheckPage> => {
    if (since === undefined || !restored.includes('mail-send')) return { examined: 0, findings: [] }
    const { records, next } = await recordedSince(kafka, [topic], { since: new Date(since), after })
    const told = records.flatMap((record) => toldBy(readEnvelope(record)))
    const findings = told.length > 0 ? await contradictions(db, told, repair) : []
    if (repair && findings.length > 0) await db.query(CONCLUDE, ...valuesOf(told))
    return {
      examined: records.length,
      findings,
      ...(next !== undefined && { next }),
    }
  }
}

/** A message whose deliveries are named is not named once more because it has left. */
async function contradictions(on: Queryable, told: readonly Told[], repair: boolean): Promise<Finding[]> {
  const values = valuesOf(told)
  const [due, departed] = [await on.query(FIND, ...values), await on.query(FIND_DEPARTED, ...values)]
  const state = repair ? 'repaired' : 'open'
  const named = new Set(due.map(({ send_id }) => send_id))
  return [
    ...due.map(({ message_id, recipient, state: was }): Finding => {
      return {
        subject: `${message_id} to ${recipient}`,
        problem: `it is due again, and was ${was} after the backup`,
        state,
      }
    }),
    ...departed.flatMap(({ id, message_id }): Finding[] => {
      const problem = 'its first recipient was answered after the backup, and it counts as not sent'
      return named.has(id) ? [] : [{ subject: message_id, problem, state }]
    }),
  ]
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
    case 'delivery.rejected':
    case 'delivery.handed_over': {
      const state = event.type === 'delivery.rejected' ? 'rejected' : 'handed_over'
      const { inbox_uid: inbox, message_id: message } = event.payload
      return [{ inbox, message, recipient: null, state }]
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
