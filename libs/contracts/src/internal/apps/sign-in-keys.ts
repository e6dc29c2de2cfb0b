import { z } from 'zod'
import { publicJwk } from '../../schemas/public-jwk.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

const FROM_SIGN_IN = { ...INTERNAL, service: 'gateway', callers: ['apps-signin'] } as const
const at = z.iso.datetime()
const api_key_id = z.guid()

/** A public key that may stand for an inbox at sign-in. */
const signInCredential = z.object({
  api_key_id,
  family: z.enum(['sign_in', 'registered']),
  status: z.enum(['pending', 'active']).optional().meta({ description: 'Only of a sign-in key.' }),
  organization_id: z.guid(),
  pod_id: z.guid().optional().meta({ description: 'With `inbox_uid` the scope of the key; both absent: all inboxes.' }),
  inbox_uid: z.guid().optional(),
  jwk: publicJwk.optional().meta({ description: 'Absent until a sign-in key was proven.' }),
  app_connect: z.boolean(),
  app_share_owner: z.boolean(),
  created_by: z.guid().meta({ description: 'The bearer key that created it.' }),
  expires_at: at.optional(),
})
export type SignInCredential = z.infer<typeof signInCredential>

const signInInbox = z.object({
  organization_id: z.guid(),
  pod_id: z.guid(),
  inbox_uid: z.guid(),
  address: z.string(),
  display_name: z.string().optional(),
})
export type SignInInbox = z.infer<typeof signInInbox>

/** The verified human of an organization. Its id is the same for all organizations that the human owns. */
const signInOwner = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().optional(),
})
export type SignInOwner = z.infer<typeof signInOwner>

const signInFacts = z.object({
  credential: signInCredential.optional().meta({ description: 'Absent: unknown, deleted or expired.' }),
  inbox: signInInbox.optional().meta({ description: 'Absent: unknown or deleted.' }),
  organization: z
    .enum(['active', 'suspended', 'unverified'])
    .optional()
    .meta({ description: 'State of the organization of the inbox.' }),
  owner: signInOwner.optional().meta({ description: 'Of that organization; absent: no verified human is attached.' }),
})
export type SignInFacts = z.infer<typeof signInFacts>

/**
 * Keys that stand for an inbox at the sign-in to apps (apps 4), which the gateway stores among the other keys, and what a
 * sign-in must know at the moment of its decision. Rows, not caches.
 */
export const signInKeyOperations = internalGroup({
  /** The caller chooses the id, so that a repeated call makes one key. */
  'gateway.mintSignInKey': defineInternal({
    ...FROM_SIGN_IN,
    id: 'gateway.mintSignInKey',
    path: '/internal/sign-in-keys/mint',
    summary: 'Create a pending sign-in key of an inbox; repeating the call with its id has one effect',
    body: z.object({
      api_key_id,
      organization_id: z.guid(),
      inbox_uid: z.guid(),
      created_by: z.guid().meta({ description: 'The bearer key whose grants it copies.' }),
      expires_at: at.meta({ description: 'When it is deleted unless it was proven by then.' }),
    }),
    response: z.discriminatedUnion('outcome', [
      z.object({ outcome: z.literal('minted'), app_share_owner: z.boolean() }),
      z.object({ outcome: z.literal('refused'), because: z.enum(['creator', 'inbox']) }),
      z.object({
        outcome: z.literal('limited'),
        by: z.enum(['live_keys', 'key_per_hour', 'organization_per_hour', 'keys_of_organization']),
        retry_after: z.int().min(1).meta({ description: 'Seconds.' }),
      }),
    ]),
  }),
  'gateway.activateSignInKey': defineInternal({
    ...FROM_SIGN_IN,
    id: 'gateway.activateSignInKey',
    path: '/internal/sign-in-keys/activate',
    summary: 'Activate a pending sign-in key with the public key whose possession was proven; repeatable with the same',
    body: z.object({ api_key_id, jwk: publicJwk }),
    response: z.discriminatedUnion('outcome', [
      z.object({ outcome: z.literal('activated'), expires_at: at }),
      z.object({ outcome: z.literal('gone') }),
      z.object({ outcome: z.literal('used') }).meta({ description: 'Another credential has this public key.' }),
      z.object({ outcome: z.literal('limited'), retry_after: z.int().min(1) }),
    ]),
  }),
  'gateway.cancelSignInKey': defineInternal({
    ...FROM_SIGN_IN,
    id: 'gateway.cancelSignInKey',
    path: '/internal/sign-in-keys/cancel',
    summary: 'Delete a sign-in key that is still pending: its sign-in was refused or abandoned',
    body: z.object({ api_key_id }),
    response: z.object({ cancelled: z.boolean() }),
  }),
  'gateway.getSignInFacts': defineInternal({
    ...FROM_SIGN_IN,
    id: 'gateway.getSignInFacts',
    path: '/internal/sign-in-keys/facts',
    summary: 'Tell what a sign-in depends on: the key, the inbox, its organization and its human',
    body: z.object({
      api_key_id: api_key_id.optional(),
      inbox: z.union([z.object({ address: z.string() }), z.object({ uid: z.guid() })]).optional(),
      used: z.boolean().meta({ description: 'Whether to note that the key was used just now.' }),
    }),
    response: signInFacts,
  }),
})
