import type { OperationDefinition } from '@restante/contracts/operations'
import type { Credential } from '@restante/contracts/testing'
import { byLength } from '@restante/testkit'

/** A kind of credential that asks for an operation. */
export interface Question {
  readonly credential: Credential
  /** Whether it has the permission of the operation. */
  readonly permitted: boolean
  /** Whether it has every other permission as well. */
  readonly unrestricted?: boolean
}

/** Kinds that the operator or an owner can create with some of the permissions. */
const RESTRICTABLE: ReadonlySet<Credential> = new Set<Credential>([
  ...(['organization', 'pod', 'inbox'] as const),
  ...(['foreign organization', 'foreign pod', 'foreign inbox', 'public key'] as const),
])

/**
 * What is asked about an operation: each kind of credential with its permission, and each that can be restricted without
 * it. One check decides about the permissions of all kinds, so in the short form only the key of an organization and one
 * other kind are restricted for each operation, and all others may do whatever their scope allows. Without restrictions
 * no key has `app_connect` (identity 3.4).
 * @param turn number of the operation under its prefix, which decides about the other kind.
 * @param spread under how many prefixes the operation is asked. In the short form the key of an organization, and the
 * other kind, ask under each of them, and every other kind under one.
 */
export function questionsAbout(
  { permission }: OperationDefinition,
  turn: number,
  credentials: readonly Credential[],
  spread = 1,
): Question[] {
  const others = credentials.filter((credential) => RESTRICTABLE.has(credential) && credential !== 'organization')
  const short = new Set<Credential>(['organization', others[turn % others.length] ?? 'organization'])
  const restricted = permission === 'app_connect' ? RESTRICTABLE : byLength({ short, long: RESTRICTABLE })
  const asking = byLength({
    short: credentials.filter((credential, at) => short.has(credential) || (at + turn) % spread === 0),
    long: credentials,
  })
  return asking.flatMap((credential): Question[] => {
    if (!RESTRICTABLE.has(credential)) return [{ credential, permitted: true }]
    if (!restricted.has(credential)) return [{ credential, permitted: true, unrestricted: true }]
    return [
      { credential, permitted: true },
      { credential, permitted: false },
    ]
  })
}
