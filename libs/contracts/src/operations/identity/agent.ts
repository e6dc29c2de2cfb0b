import { z } from 'zod'
import { BASE, define, group } from '../../definition/define.ts'
import { isMailAddress } from '../../schemas/mail-address.ts'
import { prose } from '../../schemas/text.ts'
import { inboxId, OTP_CODE, organizationId } from '../../vocabulary/ids.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { username } from './inboxes.ts'

const humanEmail = z
  .string()
  .trim()
  .max(LIMITS.signUp.humanEmail, { abort: true })
  .toLowerCase()
  .refine(isMailAddress, { error: 'Must be one e-mail address' })

/** An agent signs up by itself and has its human confirm it (identity 5). */
export const agentOperations = group({
  'agent.signUp': define({
    ...BASE,
    id: 'agent.signUp',
    method: 'POST',
    path: '/agent/sign-up',
    prefixes: ['organization'],
    tiers: [],
    permission: 'any',
    authentication: 'none',
    service: 'gateway',
    summary: 'Create an organization, an inbox and an API key in one call',
    errors: ['already_exists', 'resource_taken'],
    body: z.object({
      username,
      human_email: humanEmail.optional(),
      source: prose().max(LIMITS.signUp.source).optional(),
      referrer: prose().max(LIMITS.signUp.source).optional(),
    }),
    response: z.object({ organization_id: organizationId, inbox_id: inboxId, api_key: z.string() }),
  }),
  'agent.verify': define({
    ...BASE,
    id: 'agent.verify',
    method: 'POST',
    path: '/agent/verify',
    prefixes: ['organization'],
    tiers: ['organization'],
    permission: 'agent_verify',
    service: 'gateway',
    summary: "Verify the organization with the code mailed to the agent's human",
    errors: ['unprocessable', 'limit_exceeded'],
    body: z.object({ otp_code: z.string().trim().regex(OTP_CODE, { error: 'Must be exactly 6 digits' }) }),
    response: z.object({ verified: z.literal(true) }),
  }),
  'agent.human': define({
    ...BASE,
    id: 'agent.human',
    method: 'POST',
    path: '/agent/human',
    prefixes: ['organization'],
    tiers: ['organization'],
    permission: 'agent_verify',
    service: 'gateway',
    summary: 'Attach or replace the human of an unverified organization',
    errors: ['already_exists', 'limit_exceeded'],
    body: z.object({ human_email: humanEmail }),
    response: z.object({ human_email: z.string(), instructions: z.string() }),
  }),
})
