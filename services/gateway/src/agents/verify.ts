import { timingSafeEqual } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError, invalid } from '@restante/service/errors'
import { organizationScope } from '@restante/service/identity'
import type { Actor } from '../audit/actor.ts'
import { changeCredential, lockCredential, revokeCredentials } from '../credentials/store.ts'
import type { Credential, Organization, VerificationCode } from '../generated/prisma/client.ts'
import { nothingToVerify } from '../identity/refusals.ts'
import { changeOrganization } from '../organizations/store.ts'
import { writeHolding } from '../organizations/writes.ts'
import type { Tx } from '../storage/database.ts'
import { forgetCode, isLive, lockCodeOfKey, lockOwnCode } from './codes.ts'
import type { AgentOptions } from './sign-up.ts'
import { confirmTakeOver, finishTakeOver, requireSubscriptionOwners, type TakeOver, takeOver } from './take-over.ts'

/** Outcome of one submission. Each is committed: a wrong code must stay counted. */
type Outcome =
  | { readonly kind: 'verified'; readonly takeOver: TakeOver | undefined }
  | { readonly kind: 'nothing_to_verify' }
  | { readonly kind: 'no_human' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'not_mailed' }
  | { readonly kind: 'key_not_mailed' }
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'revoked' }
  | { readonly kind: 'wrong'; readonly remaining: number }

/** Enters the code that was mailed to the human (identity 5.2). */
export async function verify(
  deps: AgentOptions,
  caller: Caller,
  submitted: string,
  actor: Actor,
): Promise<{ verified: true }> {
  // Only a provisional key takes over an unverified organization in this way.
  if (caller.credential.provisional && caller.unverified) {
    const inForce = { organizationId: caller.organization_id, takeOvers: caller.take_overs ?? 0 }
    await requireSubscriptionOwners(deps.endSubscriptions, inForce)
  }
  const outcome = await writeHolding(deps, caller, (tx, organization) =>
    submit(tx, deps, { caller, organization, submitted, actor }),
  )
  if (outcome.kind !== 'verified') throw refusalOf(outcome)
  if (outcome.takeOver !== undefined) await finishTakeOver(deps.endSubscriptions, outcome.takeOver)
  return { verified: true }
}

function refusalOf(outcome: Exclude<Outcome, { kind: 'verified' }>): ApiError {
  switch (outcome.kind) {
    case 'nothing_to_verify':
      return nothingToVerify()
    case 'no_human':
      return new ApiError('unprocessable', {
        message: 'No human is attached',
        fix: 'Attach a human first, with POST /v0/agent/human.',
      })
    case 'expired':
      return new ApiError('unprocessable', {
        message: 'The code has expired',
        fix: 'Sign up again, or attach the same human again, to have a new code mailed.',
      })
    case 'not_mailed':
      return new ApiError('unprocessable', {
        message: 'No code was mailed',
        fix: 'Attach the same human again, with POST /v0/agent/human: codes are mailed once a minute has passed since the last mail to this person, and five times a day.',
      })
    case 'key_not_mailed':
      return new ApiError('unprocessable', {
        message: 'No code was mailed for this key',
        fix: 'Codes are mailed at most once a minute and three times a day for keys that wait: sign up again later.',
      })
    case 'exhausted':
      return new ApiError('limit_exceeded', {
        message: 'Too many wrong codes',
        fix: 'Wait until the code has expired, 24 hours after it was issued, and have a new one mailed.',
        details: { resource: 'verification_attempt', limit: LIMITS.signUp.codeAttempts },
      })
    case 'revoked':
      return invalid(['otp_code'], 'Wrong code; attempts remaining: 0. The key has been revoked: sign up again.')
    case 'wrong':
      return invalid(['otp_code'], `Wrong code; attempts remaining: ${outcome.remaining}`)
  }
}

interface Submission {
  readonly caller: Caller
  readonly organization: Organization
  readonly submitted: string
  readonly actor: Actor
}

async function submit(tx: Tx, deps: AgentOptions, submission: Submission): Promise<Outcome> {
  const { caller, organization } = submission
  const credential = await lockCredential(tx, organizationScope(caller.organization_id), caller.credential.id)
  if (credential === undefined) throw new ApiError('unknown_api_key')
  if (organization.humanEmail === null && organization.authenticationType === 'agent_unverified') {
    return { kind: 'no_human' }
  }
  if (credential.provisional) return confirmKey(tx, deps, submission, credential)
  if (organization.authenticationType !== 'agent_unverified') return { kind: 'nothing_to_verify' }
  return confirmOrganization(tx, deps, submission, credential)
}

/** Checks the organization's own code, which ten wrong attempts lock until it expires. */
async function confirmOrganization(
  tx: Tx,
  deps: AgentOptions,
  { organization, submitted, actor }: Submission,
  credential: Credential,
): Promise<Outcome> {
  const now = new Date()
  const code = await lockOwnCode(tx, organization.id)
  if (code === undefined) return { kind: 'not_mailed' }
  if (!isLive(code, now)) return { kind: 'expired' }
  const left = LIMITS.signUp.codeAttempts - code.attempts
  if (left <= 0) return { kind: 'exhausted' }
  if (!isRight(deps, code, submitted)) {
    await countAttempt(tx, code)
    return { kind: 'wrong', remaining: left - 1 }
  }
  await forgetCode(tx, deps.timers, code)
  const confirmed = await markVerified(tx, deps, organization, actor)
  const waiting = { organizationId: organization.id, provisional: true }
  await revokeCredentials(tx, deps.events, waiting, { actor, now, action: 'credential.rotated' })
  if (organization.takeOvers > 0) await confirmTakeOver(tx, deps, confirmed, credential.id, now)
  return { kind: 'verified', takeOver: undefined }
}

/**
 * Checks the code that was mailed for a provisional key, and no other one. The third wrong attempt ends the key: its
 * guesses cannot affect the code of the human's own agent (identity 5.2).
 */
async function confirmKey(
  tx: Tx,
  deps: AgentOptions,
  { organization, submitted, actor }: Submission,
  credential: Credential,
): Promise<Outcome> {
  const now = new Date()
  const code = await lockCodeOfKey(tx, credential.id)
  if (code === undefined) return { kind: 'key_not_mailed' }
  if (!isLive(code, now)) return { kind: 'expired' }
  if (!isRight(deps, code, submitted)) {
    const remaining = LIMITS.signUp.provisionalAttempts - code.attempts - 1
    if (remaining > 0) {
      await countAttempt(tx, code)
      return { kind: 'wrong', remaining }
    }
    await revokeCredentials(tx, deps.events, { id: credential.id }, { actor, now, because: 'wrong codes' })
    return { kind: 'revoked' }
  }
  await forgetCode(tx, deps.timers, code)
  await changeCredential(tx, deps.events, credential, { provisional: false }, actor)
  if (organization.authenticationType === 'agent_unverified') {
    const own = await lockOwnCode(tx, organization.id)
    if (own !== undefined) await forgetCode(tx, deps.timers, own)
    const confirmed = await markVerified(tx, deps, organization, actor)
    const successor = { credentialId: credential.id, verified: true }
    const { takeOver: done } = await takeOver(tx, deps, confirmed, successor, actor, now)
    return { kind: 'verified', takeOver: done }
  }
  // In a verified organization the human has confirmed what exists, so only keys end: those of earlier sign-ups, and
  // all keys that were made with them. Otherwise a copy of a replaced key could still read the mail.
  const replaced = { organizationId: organization.id, id: { not: credential.id }, signUp: true }
  await revokeCredentials(tx, deps.events, replaced, { actor, now, action: 'credential.rotated' })
  return { kind: 'verified', takeOver: undefined }
}

function isRight({ secrets }: AgentOptions, code: VerificationCode, submitted: string): boolean {
  return timingSafeEqual(Buffer.from(secrets.code(code.id)), Buffer.from(submitted))
}

async function countAttempt(tx: Tx, code: VerificationCode): Promise<void> {
  const orm = await tx.orm()
  await orm.verificationCode.update({ where: { id: code.id }, data: { attempts: { increment: 1 } } })
}

function markVerified(
  tx: Tx,
  { events, settings }: AgentOptions,
  organization: Organization,
  actor: Actor,
): Promise<Organization> {
  const change = {
    authenticationType: 'agent_verified',
    verifiedAt: new Date(),
    inboxLimit: settings.verifiedInboxLimit ?? null,
    domainLimit: settings.verifiedDomainLimit ?? null,
  }
  return changeOrganization(tx, events, organization, change, actor)
}
