import type { OperationId } from '@restante/contracts/operations'
import type { Handlers } from '@restante/service/http'
import { credentialActor } from '../audit/actor.ts'
import { attachHuman } from './human.ts'
import { type AgentOptions, signUp } from './sign-up.ts'
import { verify } from './verify.ts'

type Ids = Extract<OperationId, `agent.${string}`>

export function agentRoutes(deps: AgentOptions): Pick<Handlers<'gateway'>, Ids> {
  return {
    'agent.signUp': async ({ body, log, requestId }) => signUp(deps, body, { kind: 'sign_up', requestId }, log),
    'agent.verify': async (request) => verify(deps, request.caller, request.body.otp_code, credentialActor(request)),
    'agent.human': async (request) =>
      attachHuman(deps, request.caller, request.body.human_email, credentialActor(request), request.log),
  }
}
