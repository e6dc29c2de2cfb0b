import { timingSafeEqual } from 'node:crypto'
import { type Caller, LIMITS } from '@restante/contracts'
import { ApiError, invalid } from '@restante/service'
import type { Actor } from '../audit/actor.ts'
import { changeCredential, lockCredential, revokeCredentials } from '../credentials/store.ts'
import type { Tx } from '../database.ts'
import type { Credential, Organization } from '../generated/prisma/client.ts'
import { changeOrganization } from '../organizations/store.ts'
import { writeHolding } from '../organizations/writes.ts'
import { forgetCode, isLive, lockCode } from './codes.ts'
import type { AgentDependencies } from './sign-up.ts'

/** What became of one submission. Each ends in a commit: a wrong code must stay counted. */
type Outcome =
  | { readonly kind: 'verified' }
  | { readonly kind: 'nothing_to_verify' }
  | { readonly kind: 'no_human' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'wrong'; readonly remaining: number }

/** Enters the code that was mailed to the human (identity 5.2). */
export async function verify(
  deps: AgentDependencies,
  caller: Caller,
  submitted: string,
  actor: Actor,
): Promise<{ verified: true }> {
  const outcome = await writeHolding(deps, caller.organization_id, (tx, organization) =>
    submit(tx, deps, caller, organization, submitted, actor),
  )
  switch (outcome.kind) {
    case 'verified':
      return { verified: true }
    case 'nothing_to_verify':
      throw nothingToVerify()
    case 'no_human':
      throw new ApiError('unprocessable', {
        message: 'No human is attached',
        fix: 'Attach a human first, with POST /v0/agent/human.',
      })
    case 'expired':
      throw new ApiError('unprocessable', {
        message: 'The code has expired',
        fix: 'Sign up again, or attach the same human again, to have a new code mailed.',
      })
    case 'exhausted':
      throw new ApiError('limit_exceeded', {
        message: 'Too many wrong codes',
        fix: 'Wait until the code has expired, 24 hours after it was issued, and have a new one mailed.',
        details: { resource: 'verification_attempt', limit: LIMITS.signUp.codeAttempts },
      })
    case 'wrong':
      throw invalid(['otp_code'], `Wrong code; attempts remaining: ${outcome.remaining}`)
  }
}

/** The refusal of `agent_verify`: only an organization, or a key, that waits for its code has something to verify. */
export function nothingToVerify(): ApiError {
  return new ApiError('missing_permission', {
    fix: "'agent_verify' needs an organization key of an agent organization that is not verified yet.",
  })
}

async function submit(
  tx: Tx,
  deps: AgentDependencies,
  caller: Caller,
  organization: Organization,
  submitted: string,
  actor: Actor,
): Promise<Outcome> {
  const now = new Date()
  const scope = { organizationId: caller.organization_id }
  const credential = await lockCredential(tx, scope, caller.credential.id)
  if (credential === undefined) throw new ApiError('unknown_api_key')
  const waiting = organization.authenticationType === 'agent_unverified' || credential.provisional
  if (!waiting) return { kind: 'nothing_to_verify' }
  if (organization.humanEmail === null) return { kind: 'no_human' }
  const code = await lockCode(tx, organization.id)
  if (code === undefined || !isLive(code, now)) return { kind: 'expired' }
  if (code.attempts >= LIMITS.signUp.codeAttempts) return { kind: 'exhausted' }
  if (!timingSafeEqual(Buffer.from(deps.secrets.code(code.id)), Buffer.from(submitted))) {
    const orm = await tx.orm()
    await orm.verificationCode.update({ where: { id: code.id }, data: { attempts: { increment: 1 } } })
    return { kind: 'wrong', remaining: LIMITS.signUp.codeAttempts - code.attempts - 1 }
  }
  await forgetCode(tx, deps.timers, code)
  await admit(tx, deps, organization, credential, actor, now)
  return { kind: 'verified' }
}

/** The human confirmed: the organization is verified, and a provisional key takes the place of the earlier ones. */
async function admit(
  tx: Tx,
  deps: AgentDependencies,
  organization: Organization,
  credential: Credential,
  actor: Actor,
  now: Date,
): Promise<void> {
  if (organization.authenticationType === 'agent_unverified') {
    const change = {
      authenticationType: 'agent_verified',
      inboxLimit: deps.settings.verifiedInboxLimit ?? null,
      domainLimit: deps.settings.verifiedDomainLimit ?? null,
    }
    await changeOrganization(tx, deps.events, organization, change, actor)
  }
  const replaced = credential.provisional ? { signUp: true } : { provisional: true }
  const others = { organizationId: organization.id, id: { not: credential.id } }
  await revokeCredentials(tx, deps.events, { ...others, ...replaced }, { actor, now, action: 'credential.rotated' })
  if (credential.provisional) await changeCredential(tx, deps.events, credential, { provisional: false }, actor)
}
