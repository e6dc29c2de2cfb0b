import type { Db } from '../database.ts'
import type { AuditEntry } from '../generated/prisma/client.ts'

export interface AuditFilter {
  readonly organizationId?: string | undefined
  /** From this moment on. */
  readonly since?: Date | undefined
}

/** Entries read at once: memory stays bounded however long the log is. */
const PAGE = 500

/** The latest entries, newest first, a page at a time. */
export async function* readAudit(
  db: Db,
  { organizationId, since }: AuditFilter,
  limit: number,
): AsyncGenerator<AuditEntry[]> {
  let after: AuditEntry | undefined
  for (let left = limit; left > 0; ) {
    const take = Math.min(PAGE, left)
    const page = await db.orm.auditEntry.findMany({
      where: {
        ...(organizationId === undefined ? {} : { organizationId }),
        AND: [since === undefined ? {} : { at: { gte: since } }, after === undefined ? {} : before(after)],
      },
      orderBy: [{ at: 'desc' }, { position: 'desc' }],
      take,
    })
    if (page.length > 0) yield page
    if (page.length < take) return
    after = page.at(-1)
    left -= page.length
  }
}

/** The bound on the time alone is implied by the other two; it is what lets the index begin there. */
function before({ at, position }: AuditEntry) {
  return { at: { lte: at }, OR: [{ at: { lt: at } }, { position: { lt: position } }] }
}
