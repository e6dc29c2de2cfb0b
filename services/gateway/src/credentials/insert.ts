import { randomUUID } from 'node:crypto'
import type { PublicJwk } from '@restante/contracts/schemas'
import type { Tier } from '@restante/contracts/vocabulary'
import type { Actor } from '../audit/actor.ts'
import { credentialFacts, recordAudit } from '../audit/log.ts'
import { type Credential, Prisma } from '../generated/prisma/client.ts'
import type { Rights } from '../identity/rights.ts'
import type { Tx } from '../storage/database.ts'
import { credentialChanged, type TenancyEvents } from '../tenancy/events.ts'
import type { Secrets } from './secrets.ts'

/** What a key is bound to: the narrowest of the three. */
export interface CredentialScope {
  readonly organizationId: string
  readonly podId?: string | undefined
  readonly inboxUid?: string | undefined
}

export interface NewCredential {
  readonly scope: CredentialScope
  readonly name: string
  readonly rights: Rights
  readonly expiresAt?: Date | undefined
  readonly provisional?: boolean
  /** Whether it comes from sign-up, or from a key that does. */
  readonly signUp?: boolean
}

export interface NewPublicKey extends NewCredential {
  readonly jwk: PublicJwk
  readonly fingerprint: string
  readonly clientId?: string | undefined
  /** The credential that registers it. */
  readonly createdBy: string
}

export interface NewSignInKey extends NewCredential {
  /** Chosen by the service that asks for the key. */
  readonly id: string
  /** The bearer key whose rights it copied. */
  readonly createdBy: string
}

/** Creates a bearer key. The secret is in the response only; the row has its keyed hash, the audit log neither. */
export async function issueCredential(
  tx: Tx,
  deps: { events: TenancyEvents; secrets: Secrets },
  given: NewCredential,
  actor: Actor,
  now: Date,
): Promise<{ row: Credential; secret: string }> {
  const { secret, prefix, hash } = deps.secrets.mint()
  const family = { type: 'bearer', secretHash: new Uint8Array(hash), prefix }
  return { row: await insertCredential(tx, deps.events, given, family, actor, now), secret }
}

/** Registers a public key. The index decides whether its client_id is free; the caller has checked before. */
export function registerCredential(
  tx: Tx,
  events: TenancyEvents,
  given: NewPublicKey,
  actor: Actor,
  now: Date,
): Promise<Credential> {
  const family = {
    type: 'public_key',
    publicKey: { ...given.jwk },
    fingerprint: given.fingerprint,
    clientId: given.clientId ?? null,
    createdBy: given.createdBy,
  }
  return insertCredential(tx, events, given, family, actor, now)
}

/**
 * What the columns of a registered key hold in a sign-in key: a point of the curve that was derived from a hash, so that no
 * private key is known for it. The release before shows it, and accepts no signature by it.
 */
const NO_KEY = {
  jwk: {
    kty: 'EC',
    crv: 'P-256',
    x: '5H8qX1lUez-Fk8lkXWLI89sgWYOnKK5GwuPOfRr6Jfk',
    y: 'QNV__xx819MZFmgXcYSHzHA1JQDY2VZ_UVlIx5cmmtY',
  },
  fingerprint: '6LfxvrHHH4monlweMDkF2c4YivHpOpiOsvgcyTvJRvw',
} as const

/** Stores a sign-in key whose possession is not proven yet (apps 4). */
export function insertSignInKey(
  tx: Tx,
  events: TenancyEvents,
  given: NewSignInKey,
  actor: Actor,
  now: Date,
): Promise<Credential> {
  const family = {
    id: given.id,
    type: 'public_key',
    publicKey: NO_KEY.jwk,
    fingerprint: NO_KEY.fingerprint,
    createdBy: given.createdBy,
    signInStatus: 'pending',
  }
  return insertCredential(tx, events, given, family, actor, now)
}

type Family = Pick<Prisma.CredentialUncheckedCreateInput, 'type'> & Partial<Prisma.CredentialUncheckedCreateInput>

async function insertCredential(
  tx: Tx,
  events: TenancyEvents,
  given: NewCredential,
  family: Family,
  actor: Actor,
  now: Date,
): Promise<Credential> {
  const orm = await tx.orm()
  const row = await orm.credential.create({
    data: {
      id: randomUUID(),
      ...family,
      organizationId: given.scope.organizationId,
      tier: tierOfScope(given.scope),
      podId: given.scope.podId ?? null,
      inboxUid: given.scope.inboxUid ?? null,
      name: given.name,
      permissions: storedPermissions(given.rights),
      appConnect: given.rights.appConnect,
      provisional: given.provisional ?? false,
      signUp: given.signUp ?? false,
      expiresAt: given.expiresAt ?? null,
      createdAt: now,
      updatedAt: now,
    },
  })
  await events.record(tx, credentialChanged(row))
  await recordAudit(tx, actor, now, {
    action: 'credential.created',
    organizationId: row.organizationId,
    credential: row,
    details: { after: credentialFacts(row) },
  })
  return row
}

function tierOfScope(scope: CredentialScope): Tier {
  if (scope.inboxUid !== undefined) return 'inbox'
  return scope.podId === undefined ? 'organization' : 'pod'
}

/** A JSON list of names; null for an unrestricted key. */
export function storedPermissions({ permissions }: Rights) {
  return permissions === undefined ? Prisma.DbNull : [...permissions]
}
