import { LIMITS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { type BounceClass, normalizeAddress } from '@restante/mime'
import { sql, type Tx } from '@restante/service/database'
import { changedEvent, listsTopic } from '../../lists/events.ts'
import { listEntries } from '../../lists/store.ts'
import type { SendRecord } from '../outbound/sends.ts'

/** Why the service itself suppresses an address (mail 12.3). */
export const SUPPRESSION_REASONS = ['bounced', 'complained', 'Unsubscribed via List-Unsubscribe'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** The transaction that records why an address is suppressed. */
export interface Recording {
  readonly tx: Tx
  readonly outbox: Outbox
}

/** How long a refusal counts as the first of two (events 1.3). */
const REFUSAL_SECONDS = LIMITS.retention.refusal / 1_000

type Refusal = [organizationId: string, address: string, sendId: string]

// The first refusal stays; one that counts no more is replaced.
const REMEMBER = sql<never, Refusal>(`
insert into refusals as first (organization_id, address, send_id) values ($1, $2, $3)
on conflict (organization_id, address) do update set send_id = excluded.send_id, refused_at = now()
 where first.refused_at <= now() - interval '${REFUSAL_SECONDS} seconds'`)

const ANOTHER = sql<{ address: string }, Refusal>(
  'select address from refusals where organization_id = $1 and address = $2 and send_id <> $3',
)

/** Refusals that count no more. */
export const FORGET_REFUSALS = `delete from refusals where (organization_id, address) in (select organization_id, address from refusals
    where refused_at <= now() - interval '${REFUSAL_SECONDS} seconds' limit $1)
   returning 1 as one`

/**
 * Suppresses an address for an organization, permanently: a read-only entry of its `send`/`block` list (mail 12.3). A
 * complaint outranks the other reasons, whichever came first; else the first one stays.
 * @param address in normalized form.
 */
export async function suppress(
  { tx, outbox }: Recording,
  organizationId: string,
  address: string,
  reason: SuppressionReason,
): Promise<void> {
  const row = await listEntries.suppress(tx, organizationId, address, reason)
  if (row) await outbox.add(tx, listsTopic, changedEvent(row))
}

/**
 * Suppresses the recipient of a bounce as far as its class says so: at once, or when another message to the address was
 * refused for the same general reason within 30 days. That a message is refused again, or reported again, counts once.
 */
export async function suppressBounced(
  recording: Recording,
  { id: sendId, origin }: Pick<SendRecord, 'id' | 'origin'>,
  recipient: string,
  bounce: BounceClass,
): Promise<void> {
  if (origin.kind === 'system' || bounce.suppress === 'never') return
  const { organizationId } = origin
  const address = normalizeAddress(recipient)
  if (bounce.suppress === 'at_second') {
    await recording.tx.query(REMEMBER, organizationId, address, sendId)
    // Its own statement sees what another transaction has remembered while this one waited for it.
    if ((await recording.tx.query(ANOTHER, organizationId, address, sendId)).length === 0) return
  }
  await suppress(recording, organizationId, address, 'bounced')
}
