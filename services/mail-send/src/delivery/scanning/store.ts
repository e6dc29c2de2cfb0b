import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { VirusVerdict } from '@restante/virus-scan'
import { SEND_COLUMNS, type SendRecord, type SendRow, sendOf } from '../outbound/sends.ts'
import type { DeliveryState, OpenDelivery } from '../outcome/delivery.ts'

/** Longer than a scan takes, with a probe. */
const LEASE = `interval '2 minutes'`

const FIND = sql<SendRow & { virus_verdict: VirusVerdict | null }, [sendId: string]>(
  `select ${SEND_COLUMNS}, s.virus_verdict from sends s where s.id = $1`,
)
const CLAIM = sql<{ scan_failures: number }, [sendId: string]>(`
update sends set scan_leased_until = now() + ${LEASE}
 where id = $1 and virus_verdict is null and (scan_leased_until is null or scan_leased_until <= now())
returning scan_failures`)
const GIVE_BACK = sql<never, [sendId: string, failures: number]>(
  'update sends set scan_leased_until = null, scan_failures = scan_failures + $2 where id = $1 and virus_verdict is null',
)
const SAVE = sql<{ id: string }, [sendId: string, verdict: VirusVerdict]>(
  'update sends set virus_verdict = $2, scan_leased_until = null where id = $1 and virus_verdict is null returning id',
)
// What another attempt hands over, from before the scanner was configured, is left to it. What is being handed over to the
// destination of this attempt was left by one that has ended.
const TAKE_WAITING = sql<
  { id: string; recipient: string; state: DeliveryState; attempts: number; delayed: boolean; inside: boolean },
  [sendId: string, destination: string]
>(`
select id, recipient, state, attempts, delayed_at is not null as delayed, inside
  from deliveries
 where send_id = $1 and (state in ('queued', 'deferred') or state = 'handing_over' and destination = $2)
 order by id
   for update`)

/** A message, and what the scanner has said about it. */
export interface ScannedSend {
  readonly send: SendRecord
  readonly verdict: VirusVerdict | null
}

/** Queries of the scans of outgoing messages. */
export const scans = {
  /** The message, unless it was deleted. */
  async find(on: Queryable, sendId: string): Promise<ScannedSend | undefined> {
    const [row] = await on.query(FIND, sendId)
    return row && { send: sendOf(row), verdict: row.virus_verdict }
  },

  /** Claims the scan of a message for a while. @returns the failures so far; undefined when another attempt has it. */
  async claim(on: Queryable, sendId: string): Promise<number | undefined> {
    const [claimed] = await on.query(CLAIM, sendId)
    return claimed?.scan_failures
  },

  /** Ends a claim without a verdict. */
  async giveBack(on: Queryable, sendId: string, failures: 0 | 1): Promise<void> {
    await on.query(GIVE_BACK, sendId, failures)
  },

  /** @returns false when there was a verdict already. */
  async save(on: Queryable, sendId: string, verdict: VirusVerdict): Promise<boolean> {
    return (await on.query(SAVE, sendId, verdict)).length > 0
  },

  /** The deliveries of a message that no other attempt than one at this destination can have begun, locked. */
  async takeWaiting(tx: Tx, sendId: string, destination: string): Promise<OpenDelivery[]> {
    return tx.query(TAKE_WAITING, sendId, destination)
  },
}
