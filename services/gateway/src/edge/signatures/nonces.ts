import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

const TAKE = sql<{ nonce: string }, [credentialId: string, nonce: string]>(`
insert into signature_nonces (credential_id, nonce) values ($1, $2)
on conflict do nothing
returning nonce`)

const FORGET = sql<{ nonce: string }, [keptSeconds: number, limit: number]>(`
delete from signature_nonces
 where (credential_id, nonce) in (
   select credential_id, nonce from signature_nonces
    where used_at < now() - make_interval(secs => $1)
    order by used_at limit $2
      for update skip locked)
returning nonce`)

const FORGET_EVERY_MS = 60_000
/** Per statement, so that none runs for long, whatever has accumulated. */
const BATCH = 5_000

/**
 * Takes a nonce for one request: a second request with it is refused, in every process and after every crash, because
 * the primary key is unique (identity 2.4).
 * @returns false when it was taken before.
 */
export async function takeNonce(db: Queryable, credentialId: string, nonce: string): Promise<boolean> {
  const [taken] = await db.query(TAKE, credentialId, nonce)
  return taken !== undefined
}

/** Removes nonces once every signature that could name them has expired. */
export function forgetNonces(db: Queryable, log: Logger): Periodic {
  const seconds = LIMITS.signature.nonceKept / 1_000
  return new Periodic({
    name: 'nonces',
    everyMs: FORGET_EVERY_MS,
    log,
    work: async (stopping) => {
      let gone = BATCH
      while (gone === BATCH && !stopping.aborted) gone = (await db.query(FORGET, seconds, BATCH)).length
    },
  })
}
