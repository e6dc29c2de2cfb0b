import { type Queryable, sql } from '@restante/service/database'

const COUNT = sql<{ visits: number }, [visitor: string]>(`
insert into visits (visitor, visits) values ($1, 1)
on conflict (visitor) do update set visits = visits.visits + 1
returning visits`)

/** Counts a visit. @returns the number of visits of the visitor. */
export async function countVisit(db: Queryable, visitor: string): Promise<number> {
  const [row] = await db.query(COUNT, visitor)
  if (row === undefined) throw new Error('the visit was not counted')
  return row.visits
}
