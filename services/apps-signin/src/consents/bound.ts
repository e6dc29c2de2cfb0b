import type { Transaction } from '../transactions/store.ts'

/** A sign-in whose inbox a key has proven. */
export type BoundTransaction = Transaction & {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
  readonly api_key_id: string
}

/** Whether the inbox of a sign-in is proven. */
export function isBound(transaction: Transaction): transaction is BoundTransaction {
  const { approved_at, organization_id, pod_id, inbox_uid, address, api_key_id } = transaction
  return [approved_at, organization_id, pod_id, inbox_uid, address, api_key_id].every((value) => value !== null)
}
