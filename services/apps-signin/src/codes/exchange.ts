import { randomUUID } from 'node:crypto'
import type { SignInFacts } from '@restante/contracts/internal'
import { LIMITS, type SignInScope } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { recordSignIn } from '../accounts/record-sign-in.ts'
import type { Client } from '../apps/find.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { claimsOf, type Subjects } from './claims.ts'
import { ownerNow, scopesNow } from './disclosure.ts'
import { countExchange } from './rates.ts'
import { hashOf, isSecret, newSecret, provesChallenge } from './secrets.ts'
import { type Standing, standingOf } from './standing.ts'
import { type CodeRow, findCode, insertToken, revokeTokenOf, useCode } from './store.ts'

export interface ExchangeOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly gateway: ServiceClient<'apps-signin'>
  readonly keys: SigningKeys
  readonly subjects: Subjects
  /** Origin of the provider. */
  readonly issuer: string
}

/** A request whose client has authenticated. */
export interface ExchangeRequest {
  readonly client: Client
  readonly code: string
  readonly redirectUri: string
  readonly verifier: string
}

/** `because` is a word for the log: the app is told `invalid_grant`, whatever it is. */
export type Exchanged =
  | {
      readonly kind: 'tokens'
      readonly accessToken: string
      readonly idToken: string
      readonly scopes: readonly SignInScope[]
    }
  | { readonly kind: 'invalid'; readonly because: string }

const TOKEN_SECONDS = LIMITS.app.token / 1_000

/**
 * Exchanges a code, once: of requests that run at once one gets tokens, and every later one revokes them (RFC 6749
 * 4.1.2).
 * @throws RateLimitedError, and the code stays good.
 */
export async function exchangeCode(options: ExchangeOptions, request: ExchangeRequest): Promise<Exchanged> {
  const found = await findValid(options, request)
  if (typeof found === 'string') return { kind: 'invalid', because: found }
  const { gateway, db } = options
  const inbox = { uid: found.inbox_uid }
  // The key counts as used now, and not when a browser loads the pages before, which it may do any number of times.
  const facts = await gateway.call('gateway.getSignInFacts', { api_key_id: found.api_key_id, inbox, used: true })
  const standing = standingOf(facts)
  if (typeof standing === 'string') return { kind: 'invalid', because: standing }
  const sign = await options.keys.signer()
  const exchanged = await db.transaction((tx) =>
    exchange(tx, options, { ...request, row: found, facts, standing, sign }),
  )
  if (exchanged !== undefined) return exchanged
  await revokeTokenOf(db, found.hash)
  return { kind: 'invalid', because: 'code_used' }
}

/** The code of a request, or why there is none for it. */
async function findValid({ db }: ExchangeOptions, request: ExchangeRequest): Promise<CodeRow | string> {
  if (!isSecret(request.code)) return 'code_unknown'
  const row = await findCode(db, hashOf(request.code))
  if (row === undefined || row.client_id !== request.client.clientId) return 'code_unknown'
  if (row.used_at !== null) {
    await revokeTokenOf(db, row.hash)
    return 'code_used'
  }
  if (row.expired) return 'code_expired'
  if (row.redirect_uri !== request.redirectUri) return 'redirect_uri'
  return provesChallenge(request.verifier, row.code_challenge) ? row : 'code_verifier'
}

interface Work extends ExchangeRequest {
  readonly row: CodeRow
  readonly facts: SignInFacts
  readonly standing: Standing
  readonly sign: Awaited<ReturnType<SigningKeys['signer']>>
}

/** @returns undefined when another request has used the code. */
async function exchange(tx: Tx, options: ExchangeOptions, work: Work): Promise<Exchanged | undefined> {
  const { row, client, standing, facts } = work
  const now = await useCode(tx, row.hash)
  if (now === undefined) return undefined
  await countExchange(tx, client.clientId)
  const scopes = scopesNow(row, client, facts)
  const { inbox } = standing
  const recorded = await recordSignIn(tx, options.outbox, {
    client,
    inbox: {
      organizationId: inbox.organization_id,
      podId: inbox.pod_id,
      inboxUid: inbox.inbox_uid,
      address: inbox.address,
    },
    transaction: row.jti,
    credentialId: row.api_key_id,
    scopes,
  })
  // The code is used up nevertheless: it would be refused each time.
  if (recorded.outcome !== 'recorded') return { kind: 'invalid', because: `account_${recorded.outcome}` }
  const accessToken = newSecret()
  await insertToken(tx, { hash: hashOf(accessToken), codeHash: row.hash, scopes })
  const idToken = await work.sign(idTokenClaims(options, work, { scopes, accessToken, now }))
  return { kind: 'tokens', accessToken, idToken, scopes }
}

function idTokenClaims(
  { subjects, issuer }: ExchangeOptions,
  { row, client, standing, facts }: Work,
  { scopes, accessToken, now }: { scopes: readonly SignInScope[]; accessToken: string; now: Date },
) {
  const { inbox } = standing
  const registered = client.kind === 'registered'
  const iat = Math.floor(now.getTime() / 1_000)
  return {
    iss: issuer,
    aud: client.clientId,
    iat,
    exp: iat + TOKEN_SECONDS,
    auth_time: Math.floor(row.auth_time.getTime() / 1_000),
    jti: randomUUID(),
    at_hash: leftHalf(hashOf(accessToken)),
    ...(row.nonce !== null && { nonce: row.nonce }),
    ...(registered && { org: inbox.organization_id, scope: scopes.join(' ') }),
    ...claimsOf(subjects, { scopes, inbox, owner: ownerNow(row, facts), registered }),
  }
}

/** OpenID Connect Core 3.1.3.6. */
function leftHalf(hash: Buffer): string {
  return hash.subarray(0, hash.length / 2).toString('base64url')
}
