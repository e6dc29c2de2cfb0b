import type { InternalRequestOf } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'

/** The part behind the `@` is compared from its end, because `like` would read `_` of a name as any character. */
const COUNT = sql<
  { count: number },
  [organizationId: string, domain: string, itself: boolean, except: string[], exceptPod: string | null]
>(`
select count(*)::int as count
  from (select split_part(address, '@', 2) as name
          from inboxes
         where organization_id = $1 and deleted_at is null and ($5::uuid is null or pod_id <> $5)) as held
 where ((name = $2::text and $3::boolean) or right(name, length($2::text) + 1) = '.' || $2::text)
   and not exists (select from unnest($4::text[]) as one
                    where name = one or right(name, length(one) + 1) = '.' || one)`)

/** Number of live inboxes of an organization below a domain, or on it as well. */
export async function countInboxesOn(
  db: Queryable,
  { organization_id, domain, itself, except, except_pod }: InternalRequestOf<'gateway.countInboxesOn'>,
): Promise<number> {
  const [row] = await db.query(COUNT, organization_id, domain, itself, except, except_pod ?? null)
  return row?.count ?? 0
}
