import type { AuditEntry } from '../generated/prisma/client.ts'
import type { Db } from '../storage/database.ts'
import { pages } from '../storage/read-in-batches.ts'

export interface AuditFilter {
  readonly organizationId?: string | undefined
  /** From this moment on. */
  readonly since?: Date | undefined
}

/** The latest entries, newest first, a page at a time. */
export function readAudit(db: Db, { organizationId, since }: AuditFilter, limit: number): AsyncGenerator<AuditEntry[]> {
  return pages(
    (after, take) =>
      db.orm.auditEntry.findMany({
        where: {
          ...(organizationId === undefined ? {} : { organizationId }),
          AND: [since === undefined ? {} : { at: { gte: since } }, after === undefined ? {} : before(after)],
        },
        orderBy: [{ at: 'desc' }, { position: 'desc' }],
        take,
      }),
    limit,
  )
}

/** The bound on the time alone is implied by the other two; it is what lets the index begin there. */
function before({ at, position }: AuditEntry) {
  return { at: { lte: at }, OR: [{ at: { lt: at } }, { position: { lt: position } }] }
}
