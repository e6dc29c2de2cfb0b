import type { TestDispatcher } from '../dispatcher.ts'

interface Total {
  matched: number
  queued: number
  pending: number
}

/** Replays the last hour to a webhook in batches, to the end. */
export async function replayLastHour(
  dispatcher: TestDispatcher,
  webhookId: string,
  more: Record<string, unknown> = {},
): Promise<Total> {
  const now = Date.now()
  const range = { from: new Date(now - 3_600_000).toISOString(), to: new Date(now + 60_000).toISOString() }
  const body = { webhook_id: webhookId, dry_run: false, operator: 'tester', ...range, ...more }
  const total = { matched: 0, queued: 0, pending: 0 }
  for (let after: unknown; ; ) {
    const answer = await dispatcher.internal('webhooks-dispatcher.replayRange', {
      ...body,
      ...(after ? { after } : {}),
    })
    const { batch } = answer.body as { batch?: Total & { next?: string } }
    if (!batch) throw new Error(JSON.stringify(answer.body))
    total.matched += batch.matched
    total.queued += batch.queued
    total.pending += batch.pending
    if (batch.next === undefined) return total
    after = batch.next
  }
}
