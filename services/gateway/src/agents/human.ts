import { type Caller, LIMITS } from '@restante/contracts'
import { ApiError } from '@restante/service'
import type { Actor } from '../audit/actor.ts'
import type { Tx } from '../database.ts'
import { changeOrganization, lockOrganization } from '../organizations/store.ts'
import { write } from '../organizations/writes.ts'
import { ensureCode, forgetCode, holdHuman, lockCode } from './codes.ts'
import { refuseDomain } from './settings.ts'
import type { AgentDependencies } from './sign-up.ts'
import { nothingToVerify } from './verify.ts'

/** Attaches a human to an unverified organization, or replaces the one it has (identity 5.3). */
export async function attachHuman(deps: AgentDependencies, caller: Caller, human: string, actor: Actor) {
  refuseDomain(human, deps.settings.refusedDomains, deps.addresses.sharedDomains)
  const id = caller.organization_id
  await deps.humanTurns.run(human, () => write(deps, id, (tx) => attach(tx, deps, id, human, actor)))
  return {
    human_email: human,
    instructions: `A 6-digit code goes to ${human} by mail, at most once a minute and five times a day; if none arrives, repeat this request later. Ask your human for the code and enter it with POST /v0/agent/verify. Until then you can send mail to ${human} only.`,
  }
}

async function attach(
  tx: Tx,
  deps: AgentDependencies,
  organizationId: string,
  human: string,
  actor: Actor,
): Promise<void> {
  const now = new Date()
  await holdHuman(tx, human)
  const organization = await lockOrganization(tx, organizationId)
  if (organization === undefined) throw new ApiError('unknown_api_key')
  if (organization.authenticationType !== 'agent_unverified') throw nothingToVerify()
  if (organization.humanEmail !== human) {
    const replaces = organization.humanEmail !== null
    if (replaces && organization.humanReplacements >= LIMITS.signUp.humanReplacements) throw replacementsUsed()
    await refuseKnownHuman(tx, human)
    const code = await lockCode(tx, organizationId)
    if (code !== undefined) await forgetCode(tx, deps.timers, code)
    const humanReplacements = organization.humanReplacements + (replaces ? 1 : 0)
    await changeOrganization(tx, deps.events, organization, { humanEmail: human, humanReplacements }, actor)
  }
  await ensureCode(tx, deps.timers, { organizationId, humanEmail: human, mailAgain: false }, now)
}

async function refuseKnownHuman(tx: Tx, human: string): Promise<void> {
  const orm = await tx.orm()
  const owner = await orm.organization.findUnique({ where: { humanEmail: human }, select: { id: true } })
  if (owner === null) return
  throw new ApiError('already_exists', {
    message: 'This human already has an organization',
    fix: 'Sign up with this human_email to get a key of that organization, or attach another human.',
  })
}

function replacementsUsed(): ApiError {
  return new ApiError('limit_exceeded', {
    message: 'Human replacement limit exceeded',
    fix: 'Attach the human that is attached now, or sign up anew.',
    details: { resource: 'human', limit: LIMITS.signUp.humanReplacements },
  })
}
