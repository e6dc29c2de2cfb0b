import { z } from 'zod'
import { SIGN_IN_SCOPES } from '../vocabulary/apps.ts'
import { defineTopic, routingWithin } from './definition/topic.ts'

const at = z.iso.datetime()

const inbox = { organization_id: z.guid(), pod_id: z.guid(), inbox_uid: z.guid() }

/** Where an inbox signs in: an app that the operator has registered, or a client that is known by its URL only. */
const client = {
  app_id: z.guid().optional().meta({ description: 'Absent: a client without a registration.' }),
  client_id: z.string(),
}

/** Full state of an account. */
export const accountState = z.object({
  ...inbox,
  account_id: z.guid(),
  ...client,
  version: z.int().meta({ description: 'Grows with each change of the account; only a newer one is applied.' }),
  status: z.enum(['enabled', 'disabled']),
  disabled_at: at.optional(),
  first_signed_in_at: at,
  last_signed_in_at: at,
  sign_in_count: z.int().min(1),
})
export type AccountState = z.infer<typeof accountState>

/** Facts about one sign-in, for the audit log. */
const attempt = {
  ...inbox,
  ...client,
  transaction: z.string().optional().meta({ description: 'Absent: an agent accepted in advance.' }),
  credential_id: z.guid().optional(),
  at,
}

const events = {
  'account.changed': { schema: accountState, summary: 'An account was created, used, disabled or enabled again.' },
  'account.status_changed': {
    schema: z.object({
      ...inbox,
      account_id: z.guid(),
      ...client,
      status: z.enum(['enabled', 'disabled']),
      credential_id: z.guid(),
      at,
    }),
    summary: 'A key disabled an account, or enabled it again.',
  },
  'sign_in.approved': {
    schema: z.object({
      ...attempt,
      by: z.enum(['sign_in_key', 'registered_key', 'person', 'agent', 'owner']).meta({
        description:
          'Keys prove the inbox; a person, or the agent in advance, accepts what is shared; so does the owner.',
      }),
    }),
    summary: 'A step of a sign-in was approved.',
  },
  'sign_in.refused': {
    schema: z.object({ ...attempt, reason: z.string().meta({ description: 'A word, such as `account_disabled`.' }) }),
    summary: 'A sign-in ended without a code: refused by a person or the owner, or no longer possible.',
  },
  'sign_in.completed': {
    schema: z.object({ ...attempt, account_id: z.guid(), scopes: z.array(z.enum(SIGN_IN_SCOPES)) }),
    summary: 'An app exchanged the code of a sign-in.',
  },
} as const

interface SignInFacts {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
}

/** Ordered by inbox, because the steps of a sign-in come before there is an account. */
export const appsAccountsTopic = defineTopic({
  name: 'apps.accounts',
  producer: 'apps-signin',
  summary: 'Accounts of inboxes at apps, and the steps of their sign-ins. Never a token, nor what was shared.',
  key: 'inbox_uid',
  subject: (facts: SignInFacts) => facts.inbox_uid,
  routing: routingWithin,
  events,
})
