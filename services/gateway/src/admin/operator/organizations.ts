import type { Tx } from '../../storage/database.ts'
import { UsageError } from './usage-error.ts'

export type OrganizationStatus = 'active' | 'suspended' | 'deleting'

/** The human that an operator names. */
export interface NamedHuman {
  readonly address: string
  /** For apps that ask who the owner is (apps 6.2). */
  readonly name?: string | undefined
}

/** The rows in a status, as a condition of Prisma's. */
export function whereStatus(status: OrganizationStatus | undefined) {
  switch (status) {
    case undefined:
      return {}
    case 'deleting':
      return { deletingAt: { not: null } }
    default:
      return { deletingAt: null, status }
  }
}

/** @throws UsageError where another organization has this human. */
export async function refuseKnownHuman(tx: Tx, human: string): Promise<void> {
  const orm = await tx.orm()
  const owner = await orm.organization.findUnique({ where: { humanEmail: human }, select: { id: true } })
  if (owner !== null) throw new UsageError(`${human} is the human of organization ${owner.id} already.`)
}
