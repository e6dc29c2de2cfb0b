import type { LeasedMail, ServedOwners } from './queue.ts'

/** Owners that are remembered. Those of a longer cycle are treated as if they had had no turn. */
const MOST = 100

/** Whose slow mail was taken lately, so that a backlog of one organization or inbox keeps the lane from no other. */
export class SlowTurns implements ServedOwners {
  organizations: readonly string[] = []
  lanes: readonly string[] = []

  /** Notes that a slow mail was taken. */
  taken({ lane, target }: Pick<LeasedMail, 'lane' | 'target'>): void {
    this.lanes = withLatest(this.lanes, lane)
    if (target.kind === 'mail') this.organizations = withLatest(this.organizations, target.inbox.organization_id)
  }
}

function withLatest(owners: readonly string[], latest: string): string[] {
  return [...owners.filter((owner) => owner !== latest), latest].slice(-MOST)
}
