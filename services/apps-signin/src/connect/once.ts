import { operations, type ResponseOf } from '@restante/contracts/operations'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { KeyRing } from '@restante/service/secrets'
import { cancelKey } from './mint.ts'
import { type Claim, claimKey, fingerprintOf, releaseKey } from './replays.ts'

type SignInLink = ResponseOf<'apps.connect'>

export interface OnceOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly ring: KeyRing
}

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly organizationId: string
  readonly idempotencyKey: string
  /** What makes two requests the same. */
  readonly parts: readonly (string | boolean | null)[]
}

/** Characters of the id of an encryption key (`KeyRing`). */
const KEY_ID_LENGTH = 16

/**
 * Does the work once for an Idempotency-Key, and repeats its answer for as long as the link works (apps 2). A request that
 * dies frees its key when its lease ends; the sign-in key that it may have created is deleted by the next request.
 * @throws ApiError 409
 */
export async function answerOnce(
  { db, gateway, ring }: OnceOptions,
  { organizationId, idempotencyKey: key, parts }: KeyedRequest,
  work: (claim: Claim) => Promise<SignInLink>,
): Promise<SignInLink> {
  const claimed = await claimKey(db, { organizationId, key, fingerprint: fingerprintOf(parts) })
  if (claimed.kind === 'answered') return openAnswer(ring, { organizationId, key }, claimed.answer)
  const { claim, abandoned } = claimed
  try {
    if (abandoned !== undefined) await cancelKey(gateway, abandoned)
    return await work(claim)
  } catch (error) {
    // Nothing can refer to the sign-in key of an answer that was not stored, and no later request would learn of it.
    if (await releaseKey(db, claim).catch(() => false)) await cancelKey(gateway, claim.apiKeyId)
    throw error
  }
}

type Place = Pick<Claim, 'organizationId' | 'key'>

/** Seals an answer: who reads the table learns no link. */
export function sealAnswer(ring: KeyRing, place: Place, answer: SignInLink): Buffer {
  const { sealed, sealedWith } = ring.seal(contextOf(place), JSON.stringify(answer))
  return Buffer.concat([Buffer.from(sealedWith), sealed])
}

function openAnswer(ring: KeyRing, place: Place, stored: Uint8Array): SignInLink {
  const sealedWith = Buffer.from(stored.subarray(0, KEY_ID_LENGTH)).toString()
  const text = ring.open(contextOf(place), stored.subarray(KEY_ID_LENGTH), sealedWith)
  return operations['apps.connect'].response.parse(JSON.parse(text))
}

function contextOf({ organizationId, key }: Place): string {
  return `${organizationId} ${key}`
}
