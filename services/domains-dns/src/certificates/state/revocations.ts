import { randomUUID } from 'node:crypto'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { DroppedCertificate } from './certificates.ts'

export interface PendingRevocation extends DroppedCertificate {
  readonly id: string
  readonly name: string
}

const ADD = sql<unknown, [id: string, name: string, directory: string, chain: string, notAfter: Date]>(
  'insert into certificate_revocations (id, name, directory, chain, not_after) values ($1, $2, $3, $4, $5)',
)
const FIND = sql<PendingRevocation, [id: string]>(
  'select id, name, directory, chain, not_after from certificate_revocations where id = $1',
)
const REMOVE = sql<unknown, [id: string]>('delete from certificate_revocations where id = $1')

/** Keeps a certificate that is to be revoked. @returns the id of the revocation. */
export async function addRevocation(tx: Tx, name: string, dropped: DroppedCertificate): Promise<string> {
  const id = randomUUID()
  await tx.query(ADD, id, name, dropped.directory, dropped.chain, dropped.not_after)
  return id
}

export async function findRevocation(on: Queryable, id: string): Promise<PendingRevocation | undefined> {
  const [row] = await on.query(FIND, id)
  return row
}

export async function removeRevocation(on: Queryable, id: string): Promise<void> {
  await on.query(REMOVE, id)
}
