import { type Queryable, sql } from '@restante/service/database'
import { isMode, type MtaStsPolicy } from './policy.ts'

interface PolicyRow {
  readonly policy_id: string
  readonly mode: string
  readonly hosts: string[] | null
  readonly expires_at: Date
}

const FIND = sql<PolicyRow, [domain: string]>(
  'select policy_id, mode, hosts, expires_at from mta_sts_policies where domain = $1 and expires_at > now()',
)
const KEEP = sql<never, [domain: string, id: string, mode: string, hosts: readonly string[], expiresAt: string]>(`
insert into mta_sts_policies (domain, policy_id, mode, hosts, expires_at) values ($1, $2, $3, $4, $5)
on conflict (domain) do update
   set policy_id = excluded.policy_id, mode = excluded.mode, hosts = excluded.hosts, expires_at = excluded.expires_at`)

/** Policies that hold no more. */
export const FORGET_POLICIES = `delete from mta_sts_policies where domain in (select domain from mta_sts_policies
    where expires_at <= now() limit $1)
   returning 1 as one`

/** The policy that holds for a domain, as far as it is known. */
export async function findPolicy(on: Queryable, domain: string): Promise<MtaStsPolicy | undefined> {
  const [row] = await on.query(FIND, domain)
  if (!row || !isMode(row.mode)) return undefined
  return { id: row.policy_id, mode: row.mode, hosts: row.hosts ?? [], expiresAt: row.expires_at }
}

export async function keepPolicy(on: Queryable, domain: string, policy: MtaStsPolicy): Promise<void> {
  await on.query(KEEP, domain, policy.id, policy.mode, policy.hosts, policy.expiresAt.toISOString())
}
