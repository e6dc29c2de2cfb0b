import type { CheckPage, Finding, Restorable } from '@restante/contracts/internal'

/** What the operator asked for. */
export interface CheckOptions {
  readonly repair: boolean
  /** What was put back from a backup, and is therefore behind the rest. */
  readonly restored: readonly Restorable[]
  /** The time of that backup. */
  readonly since?: Date | undefined
  readonly deleteUnknown: boolean
  readonly deleteOrphans: boolean
}

/** One check of the installation. */
export interface InstallationCheck {
  /** The service or engine that it is about, and its name there. */
  readonly of: string
  readonly name: string
  readonly pages: () => AsyncGenerator<CheckPage>
}

/** Everything that a check finds at once, as its only page. */
export async function* onePage(find: () => Promise<Finding[]>): AsyncGenerator<CheckPage> {
  const findings = await find()
  yield { examined: findings.length, findings }
}
