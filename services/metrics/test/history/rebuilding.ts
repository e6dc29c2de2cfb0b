import { internalOperations } from '@restante/contracts/internal'
import type { Database } from '@restante/service/database'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import type { MetricsFixture } from '../support/fixture.ts'

/** Has a replica begin a rebuild, when the one before has switched over. Resolves when it has read some records. */
export async function beginRebuild(metrics: MetricsFixture, replicaUrl: string): Promise<void> {
  if ((await rebuildOf(metrics)) !== undefined) await switchedOver(metrics)
  const response = await metrics.internal('metrics.startRebuild', { operator: 'ada' }, replicaUrl)
  const { started } = internalOperations['metrics.startRebuild'].response.parse(await response.json())
  expect(started).toBe(true)
  await waitFor(async () => (await countRows(metrics.db, READ)) > 0, {
    what: 'the rebuild to begin reading',
    timeout: 60_000,
    interval: 5,
  })
}

const READ = 'rebuild_partitions where rebuild_id = (select max(id) from rebuilds) and next > first'

/** Waits until the last rebuild has switched over. */
export async function switchedOver(metrics: MetricsFixture): Promise<void> {
  const hasSwitched = async () => {
    const rebuild = await rebuildOf(metrics)
    if (rebuild?.state !== 'reading' && rebuild?.state !== 'switched') throw new Error(JSON.stringify(rebuild))
    return rebuild.state === 'switched'
  }
  await waitFor(hasSwitched, { what: 'the rebuild to switch over', timeout: 300_000, interval: 100 })
}

async function rebuildOf(metrics: MetricsFixture) {
  const response = await metrics.internal('metrics.getRebuild', {})
  return internalOperations['metrics.getRebuild'].response.parse(await response.json()).rebuild
}

/** Deletes what is counted for organizations since a day. */
export async function loseOrganizations(db: Database, day: number): Promise<void> {
  for (const table of ['arrivals', 'runs', 'totals'])
    await queryRows(db, `delete from ${table} where tier = 1 and day >= $1`, day)
}
