import type { Schedule } from '@restante/jobs'
import type { Tx } from '@restante/service/database'

export interface CheckTimers {
  'domain-check': Record<string, never>
}

export async function scheduleCheck(tx: Tx, schedule: Schedule<CheckTimers>, uid: string): Promise<void> {
  await schedule.schedule(tx, { kind: 'domain-check', key: uid, payload: {} })
}

export async function cancelChecks(tx: Tx, schedule: Schedule<CheckTimers>, uid: string): Promise<void> {
  await schedule.cancelIdle(tx, 'domain-check', [uid])
}
