import type { LeasedMail, ServedOwners } from './queue.ts'

/** Most owners that are remembered. In a longer rotation the others count as not served. */
const MOST = 100

/**
 * The owners whose slow mail was taken recently, so that a backlog of one organization or inbox does not block the lane
 * for others.
 */
export class SlowLaneRotation implements ServedOwners {
  organizations: readonly string[] = []
  lanes: readonly string[] = []

  /** Records that a slow mail was taken. */
  taken({ lane, target }: Pick<LeasedMail, 'lane' | 'target'>): void {
    this.lanes = withLatest(this.lanes, lane)
    if (target.kind === 'mail') this.organizations = withLatest(this.organizations, target.inbox.organization_id)
  }
}

function withLatest(owners: readonly string[], latest: string): string[] {
  return [...owners.filter((owner) => owner !== latest), latest].slice(-MOST)
}
