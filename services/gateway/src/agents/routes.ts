import type { OperationId } from '@restante/contracts'
import type { Handlers } from '@restante/service'
import { attachHuman } from './human.ts'
import { type AgentDependencies, signUp } from './sign-up.ts'
import { verify } from './verify.ts'

type Ids = Extract<OperationId, `agent.${string}`>

export function agentRoutes(deps: AgentDependencies): Pick<Handlers<'gateway'>, Ids> {
  return {
    'agent.signUp': async ({ body, log }) => signUp(deps, body, log),
    'agent.verify': async ({ caller, body }) => verify(deps, caller, body.otp_code),
    'agent.human': async ({ caller, body }) => attachHuman(deps, caller, body.human_email),
  }
}
