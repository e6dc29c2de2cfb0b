import type { DmarcCount, InternalRequestOf } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { DmarcRow } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** A report about the mail of a registered domain. */
export interface CountedReport {
  readonly domainUid: string
  readonly organizationId: string
  /** Domain of its sender. */
  readonly reporter: string
  /** Whether this sender was authenticated. */
  readonly authenticated: boolean
  readonly id: string
  /** `2027-01-31`, UTC. */
  readonly day: string
  readonly rows: readonly DmarcRow[]
}

const ADD = sql<
  { report_id: string },
  [
    domainUid: string,
    reporter: string,
    authenticated: boolean,
    reportId: string,
    organizationId: string,
    day: string,
    rows: number,
    most: number,
  ]
>(`
insert into dmarc_reports (domain_uid, reporter, authenticated, report_id, organization_id, day)
select $1, $2, $3, $4, $5, $6::date
 where $7::int + (select count(*) from dmarc_counts
                   where domain_uid = $1 and day = $6::date and authenticated = $3) <= $8::int
   and (select count(*) from dmarc_reports
         where domain_uid = $1 and day = $6::date and authenticated = $3) < $8::int
on conflict do nothing
returning report_id`)

const COUNT = sql<
  never,
  [
    domainUid: string,
    day: string,
    reporter: string,
    authenticated: boolean,
    organizationId: string,
    sourceIps: readonly string[],
    dispositions: readonly string[],
    dkim: readonly string[],
    spf: readonly string[],
    messages: readonly number[],
  ]
>(`
insert into dmarc_counts as counted (domain_uid, day, reporter, authenticated, organization_id, source_ip, disposition, dkim,
                                     spf, messages)
select $1::uuid, $2::date, $3, $4, $5::uuid, source_ip, disposition, dkim, spf, messages
  from unnest($6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[])
       as row(source_ip, disposition, dkim, spf, messages)
 order by source_ip, disposition, dkim, spf
on conflict (domain_uid, day, reporter, authenticated, source_ip, disposition, dkim, spf)
do update set messages = counted.messages + excluded.messages`)

interface CountRow {
  readonly day: string
  readonly reporter: string
  readonly authenticated: boolean
  readonly source_ip: string
  readonly disposition: string
  readonly dkim: string
  readonly spf: string
  readonly messages: string
}

const LIST = sql<CountRow, [domainUid: string, since: string, limit: number]>(`
select day::text as day, reporter, authenticated, source_ip, disposition, dkim, spf, messages::text as messages
  from dmarc_counts
 where domain_uid = $1 and day >= $2::date
 order by dmarc_counts.day desc, dmarc_counts.messages desc, reporter, source_ip, authenticated, disposition, dkim, spf
 limit $3`)

const DELETE_REPORTS = sql<{ report_id: string }, [organizationId: string, rows: number]>(`
delete from dmarc_reports
 where ctid = any(array(select ctid from dmarc_reports where organization_id = $1 limit $2))
returning report_id`)
const DELETE_COUNTS = sql<{ source_ip: string }, [organizationId: string, rows: number]>(`
delete from dmarc_counts
 where ctid = any(array(select ctid from dmarc_counts where organization_id = $1 limit $2))
returning source_ip`)

const KEPT_DAYS = LIMITS.dmarc.kept / 86_400_000
/** Too old, or about a domain that its organization has deleted. */
const expired = (table: string) => `
delete from ${table}
 where ctid = any(array(select ctid from ${table} as old
                         where day < current_date - ${KEPT_DAYS}
                            or not exists (select from registered_domains where id = old.domain_uid and deleted_at is null)
                         limit $1))`

/** Statements that delete up to a number of rows each, for the sweeper. */
export const FORGET_DMARC = [
  sql<{ report_id: string }, [rows: number]>(`${expired('dmarc_reports')} returning report_id`),
  sql<{ source_ip: string }, [rows: number]>(`${expired('dmarc_counts')} returning source_ip`),
] as const

/** What DMARC reports say about the mail of custom domains. */
export const dmarcCounts = {
  /**
   * Counts a report, unless it was counted before, or its day has too many rows or reports: one with the rows of another
   * adds none.
   * @returns whether it counts
   */
  async add(tx: Tx, report: CountedReport): Promise<boolean> {
    const { domainUid, organizationId, reporter, authenticated, id, day, rows } = report
    const { rowsPerDay } = LIMITS.dmarc
    const most = authenticated ? rowsPerDay.authenticated : rowsPerDay.others
    const added = await tx.query(ADD, domainUid, reporter, authenticated, id, organizationId, day, rows.length, most)
    if (added.length === 0) return false
    await tx.query(
      COUNT,
      domainUid,
      day,
      reporter,
      authenticated,
      organizationId,
      rows.map((row) => row.sourceIp),
      rows.map((row) => row.disposition),
      rows.map((row) => row.dkim),
      rows.map((row) => row.spf),
      rows.map((row) => row.messages),
    )
    return true
  },

  /** Newest day first, most messages first; one more than asked for when there are more. */
  async list(
    db: Queryable,
    { domain_uid, since, limit }: InternalRequestOf<'mail-ingest.listDmarcCounts'>,
  ): Promise<{ counts: DmarcCount[]; more: boolean }> {
    const rows = await db.query(LIST, domain_uid, since, limit + 1)
    const counts = rows.slice(0, limit).map((row) => ({ ...row, messages: Number(row.messages) }))
    return { counts, more: rows.length > limit }
  },

  /** Deletes up to `rows` reports, and as many counts, of an organization. @returns the larger of both numbers */
  async deleteOfOrganization(db: Queryable, id: string, rows: number): Promise<number> {
    const [reports, counts] = [await db.query(DELETE_REPORTS, id, rows), await db.query(DELETE_COUNTS, id, rows)]
    return Math.max(reports.length, counts.length)
  },
}
