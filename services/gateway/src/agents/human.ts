import type { Caller } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'
import type { Actor } from '../audit/actor.ts'
import { revokeCredentials } from '../credentials/store.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { nothingToVerify } from '../identity/refusals.ts'
import { changeOrganization } from '../organizations/store.ts'
import { holdOrganization } from '../organizations/writes.ts'
import type { Tx } from '../storage/database.ts'
import type { GatewaySchedule } from '../storage/timers.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { type CodeRequest, ensureCode, forgetCode, holdHuman, lockOwnCode, mailboxOf } from './codes.ts'
import { refuseDomain } from './settings.ts'
import type { AgentOptions } from './sign-up.ts'

/** Attaches a human to an unverified organization, or replaces the one it has (identity 5.3). */
export async function attachHuman(deps: AgentOptions, caller: Caller, human: string, actor: Actor, log: Logger) {
  refuseDomain(human, deps.settings.refusedDomains, deps.addresses.sharedDomains)
  const organizationId = caller.organization_id
  await deps.humanTurns.run(mailboxOf(human), async () => {
    const mailAgain = await hasLastMailFailed(deps, organizationId, human, log)
    const request = { organizationId, humanEmail: human, mailAgain }
    await deps.turns.run(organizationId, () => deps.db.transaction((tx) => attach(tx, deps, caller, request, actor)))
  })
  return {
    human_email: human,
    instructions: `A 6-digit code goes to ${human} by mail. Ask your human for the code and enter it with POST /v0/agent/verify. Until then you can send mail to ${human} only. If no code could be mailed, or its mail came back, repeat this request: codes are mailed to one person at most once a minute and five times a day.`,
  }
}

/**
 * A mail that was delivered is not sent again: otherwise any holder of a key could flood the human's mailbox (identity
 * 5.3).
 */
async function hasLastMailFailed(
  { db, hasMailFailed }: AgentOptions,
  organizationId: string,
  humanEmail: string,
  log: Logger,
): Promise<boolean> {
  const own = { organizationId, humanEmail, credentialId: null }
  const code = await db.orm.verificationCode.findFirst({ where: own, select: { id: true } })
  if (code === null) return false
  const last = await db.orm.codeMail.findFirst({ where: { codeId: code.id }, orderBy: { createdAt: 'desc' } })
  if (last === null) return false
  try {
    return await hasMailFailed(last.id)
  } catch (error) {
    log.warn({ err: error }, 'code mail status unavailable, assuming that it was delivered')
    return false
  }
}

async function attach(tx: Tx, deps: AgentOptions, caller: Caller, request: CodeRequest, actor: Actor): Promise<void> {
  const now = new Date()
  const { humanEmail: human } = request
  await holdHuman(tx, human)
  const organization = await holdOrganization(tx, caller)
  if (organization.authenticationType !== 'agent_unverified') throw nothingToVerify()
  if (organization.humanEmail !== human) {
    const replaces = organization.humanEmail !== null
    if (replaces && organization.humanReplacements >= LIMITS.signUp.humanReplacements) throw replacementsUsed()
    await refuseKnownHuman(tx, human)
    const humanReplacements = organization.humanReplacements + (replaces ? 1 : 0)
    await changeHuman(tx, deps, organization, { humanEmail: human, humanReplacements }, actor)
  }
  await ensureCode(tx, deps.timers, request, now)
}

/**
 * Gives a locked organization another human, or none. Everything that depended on the previous human ends: the mailed
 * code, and keys that wait for it. Either could otherwise still take over the organization's key.
 */
export async function changeHuman(
  tx: Tx,
  { events, timers }: { readonly events: TenancyEvents; readonly timers: GatewaySchedule },
  organization: Organization,
  change: Pick<Organization, 'humanEmail'> & Partial<Pick<Organization, 'humanName' | 'humanReplacements'>>,
  actor: Actor,
): Promise<void> {
  const code = await lockOwnCode(tx, organization.id)
  if (code !== undefined) await forgetCode(tx, timers, code)
  const waiting = { organizationId: organization.id, provisional: true }
  await revokeCredentials(tx, events, waiting, { actor, now: new Date(), because: 'human replaced' })
  await changeOrganization(tx, events, organization, { humanName: null, ...change }, actor)
}

async function refuseKnownHuman(tx: Tx, human: string): Promise<void> {
  const orm = await tx.orm()
  const owner = await orm.organization.findUnique({ where: { humanEmail: human }, select: { id: true } })
  if (owner === null) return
  throw new ApiError('already_exists', {
    message: 'An organization of this human already exists',
    fix: 'Sign up with this human_email to get a key of that organization, or attach another human.',
  })
}

function replacementsUsed(): ApiError {
  return new ApiError('limit_exceeded', {
    message: 'Human replacement limit exceeded',
    fix: 'Attach the same human, or sign up again.',
    details: { resource: 'human', limit: LIMITS.signUp.humanReplacements },
  })
}
