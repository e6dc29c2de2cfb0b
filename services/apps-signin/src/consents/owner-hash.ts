import { createHash } from 'node:crypto'

/** What is stored of a human owner: the SHA-256 of the id, by which a change of the owner is noticed. */
export function ownerHashOf(owner: { readonly id: string }): Buffer {
  return createHash('sha256').update(owner.id).digest()
}
