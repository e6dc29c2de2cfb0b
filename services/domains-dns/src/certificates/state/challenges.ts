import { type Queryable, sql } from '@restante/service/database'
import type { ChallengeStore } from '../authority/authority.ts'

/** Longer than an order may take. */
const KEPT_MS = 10 * 60_000

const PUT = sql<unknown, [token: string, host: string, keyAuthorization: string, keptMs: number]>(
  `insert into certificate_challenges (token, host, key_authorization, expires_at)
   values ($1, $2, $3, now() + $4::float8 * interval '1 millisecond')
   on conflict (token) do update set
     host = excluded.host, key_authorization = excluded.key_authorization, expires_at = excluded.expires_at`,
)
const REMOVE = sql<unknown, [token: string]>('delete from certificate_challenges where token = $1')
const REMOVE_OF = sql<unknown, [host: string]>('delete from certificate_challenges where host = $1')
const FIND = sql<{ key_authorization: string }, [token: string, host: string]>(
  'select key_authorization from certificate_challenges where token = $1 and host = $2 and expires_at > now()',
)

/** The answers to running challenges, shared by all replicas. */
export function challengeStore(db: Queryable): ChallengeStore {
  return {
    async put(host, token, keyAuthorization) {
      await db.query(PUT, token, host, keyAuthorization, KEPT_MS)
    },
    async remove(token) {
      await db.query(REMOVE, token)
    },
  }
}

/** The answer to a running challenge of a host, if there is one. */
export async function findChallenge(db: Queryable, host: string, token: string): Promise<string | undefined> {
  const [row] = await db.query(FIND, token, host)
  return row?.key_authorization
}

/** Ends all challenges of a host. */
export async function removeChallenges(on: Queryable, host: string): Promise<void> {
  await on.query(REMOVE_OF, host)
}
