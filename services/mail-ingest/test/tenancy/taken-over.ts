import type { Caller } from '@restante/contracts/access'
import { deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { countRows, organizationTakenOverEvent, waitFor } from '@restante/testkit'
import type { Fixture, TestInbox } from '../fixture.ts'
import { tenancyOf } from '../mailbox-fixture.ts'

/** An inbox whose organization was taken over, which mail-ingest has not heard of yet. */
export interface TakenOverInbox extends TestInbox {
  /** Number of the take-over. */
  readonly takeOvers: number
  /** A request that was admitted before the take-over. */
  readonly earlier: Caller
  /** A request with a key of the new holder. */
  readonly successor: Caller
}

/** All inboxes of a fixture are in one organization; each of them finds it taken over once more. */
let latest = 0

export async function takenOverInbox(fixture: Fixture): Promise<TakenOverInbox> {
  const inbox = await fixture.inbox()
  latest += 2
  const [earlier, successor] = [latest - 1, latest].map((take_overs) => ({ ...inbox.caller, take_overs }))
  if (earlier === undefined || successor === undefined) throw new Error('no callers')
  return { ...inbox, takeOvers: latest, earlier, successor }
}

type TakenOver = Pick<TakenOverInbox, 'organization_id' | 'takeOvers'>

/** The event as Kafka may deliver it at its worst; the service's own component does the work that it orders. */
export async function confirmTakeOver(
  fixture: Fixture,
  { organization_id, takeOvers }: TakenOver,
  { verified = true, at = new Date() }: { verified?: boolean; at?: Date } = {},
): Promise<void> {
  const { consumer } = await tenancyOf(fixture)
  await deliverTwiceAndSwapped(consumer, organizationTakenOverEvent(organization_id, { takeOvers, verified, at }))
}

export async function whenLabelsAreRemoved(fixture: Fixture, { organization_id }: TakenOver): Promise<void> {
  const open = () => countRows(fixture.db, 'label_removals where organization_id = $1', organization_id)
  await waitFor(async () => (await open()) === 0, { what: 'the end of the removal' })
}
