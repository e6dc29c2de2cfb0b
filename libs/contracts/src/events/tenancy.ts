import { z } from 'zod'
import { PERMISSIONS } from '../access/permissions.ts'
import { TIERS } from '../vocabulary/tiers.ts'
import { defineTopic, routingWithin } from './definition/topic.ts'

const version = z.int().meta({ description: 'Grows with each change of the entity; only a newer one is applied.' })
const at = z.iso.datetime()
const times = { created_at: at, updated_at: at }

/** Full state of an organization; the address of its human stays with the owner. */
export const organizationState = z.object({
  organization_id: z.guid(),
  version,
  status: z.enum(['active', 'suspended']),
  authentication_type: z.enum(['agent_unverified', 'agent_verified']).optional(),
  calendar_access: z.boolean().optional().meta({ description: 'Absent: as if true.' }),
  ...times,
})
export type OrganizationState = z.infer<typeof organizationState>

export const podState = z.object({
  organization_id: z.guid(),
  pod_id: z.guid(),
  version,
  name: z.string(),
  client_id: z.string().optional(),
  ...times,
})
export type PodState = z.infer<typeof podState>

export const inboxState = z.object({
  organization_id: z.guid(),
  pod_id: z.guid(),
  inbox_uid: z.guid(),
  version,
  address: z.string(),
  display_name: z.string().optional(),
  client_id: z.string().optional(),
  status: z.enum(['active', 'paused']),
  ...times,
})
export type InboxState = z.infer<typeof inboxState>

/** Full state of a credential; never the secret, nor its hash. */
export const credentialState = z.object({
  organization_id: z.guid(),
  credential_id: z.guid(),
  version,
  type: z.enum(['bearer', 'public_key']),
  tier: z.enum(TIERS),
  sign_in_status: z.enum(['pending', 'active']).optional().meta({ description: 'Only of a sign-in key.' }),
  pod_id: z.guid().optional(),
  inbox_uid: z.guid().optional(),
  name: z.string(),
  prefix: z.string().optional().meta({ description: 'Of a bearer key: first characters of its secret.' }),
  permissions: z.array(z.enum(PERMISSIONS)).optional().meta({ description: 'Absent: unrestricted.' }),
  app_connect: z.boolean(),
  provisional: z.boolean(),
  expires_at: at.optional(),
  ...times,
})
export type CredentialState = z.infer<typeof credentialState>

/**
 * The credential of an organization since its take-over by another sign-up with its human's address (identity 5.1).
 */
export const takeOverState = z.object({
  organization_id: z.guid(),
  version,
  credential_id: z.guid().meta({ description: 'The credential that survived.' }),
  take_overs: z.int().min(1).meta({
    description: 'Number of this take-over. Resources with a lower number were created by earlier credentials.',
  }),
  verified: z.boolean().meta({
    description:
      'Whether the human has confirmed it. Names, metadata, labels and the like made before `at` go only then.',
  }),
  at: at.meta({ description: 'When the take-over happened; the same in the event that confirms it later.' }),
})
export type TakeOverState = z.infer<typeof takeOverState>

const gone = { organization_id: z.guid(), version, deleted_at: at }

/** Full state at each change, and tombstones. */
const events = {
  'organization.changed': { schema: organizationState, summary: 'An organization was created or changed.' },
  'organization.taken_over': {
    schema: takeOverState,
    summary: 'Another key took an organization over, or that key was verified; resources of earlier keys are removed.',
  },
  'organization.deleted': { schema: z.object(gone), summary: 'An organization was deleted, with everything in it.' },
  'pod.changed': { schema: podState, summary: 'A pod was created or changed.' },
  'pod.deleted': { schema: z.object({ ...gone, pod_id: z.guid() }), summary: 'A pod was deleted.' },
  'inbox.changed': { schema: inboxState, summary: 'An inbox was created, changed, paused or resumed.' },
  'inbox.deleted': {
    schema: z.object({ ...gone, pod_id: z.guid(), inbox_uid: z.guid(), address: z.string() }),
    summary: 'An inbox was deleted; every service purges its data of it.',
  },
  'credential.changed': { schema: credentialState, summary: 'A key was created or changed.' },
  'credential.deleted': {
    schema: z.object({
      ...gone,
      credential_id: z.guid(),
      pod_id: z.guid().optional().meta({ description: 'Where the key was bound to a pod.' }),
      inbox_uid: z.guid().optional().meta({ description: 'Where the key was bound to an inbox.' }),
    }),
    summary: 'A key stopped working; streams opened with it close.',
  },
} as const

interface TenancyFacts {
  readonly organization_id: string
  readonly pod_id?: string | undefined
  readonly inbox_uid?: string | undefined
  readonly credential_id?: string | undefined
}

/** A consumer that starts later than the retention reaches reads the owner's snapshot first. */
export const tenancyTopic = defineTopic({
  name: 'tenancy',
  producer: 'gateway',
  summary: 'Organizations, pods, inboxes and credentials: full state at each change, and deletions. Never a secret.',
  key: 'organization_id',
  // The entity of the event is the narrowest that its payload names; a take-over also names the remaining key.
  subject: (facts: TenancyFacts, type) =>
    type === 'organization.taken_over'
      ? facts.organization_id
      : (facts.credential_id ?? facts.inbox_uid ?? facts.pod_id ?? facts.organization_id),
  routing: routingWithin,
  events,
})

/** One live entity of a snapshot, in the form of the event of its last change. */
export const tenancyEntity = z.discriminatedUnion('type', [
  z.object({ type: z.literal('organization.changed'), payload: organizationState }),
  z.object({ type: z.literal('pod.changed'), payload: podState }),
  z.object({ type: z.literal('inbox.changed'), payload: inboxState }),
  z.object({ type: z.literal('credential.changed'), payload: credentialState }),
])
export type TenancyEntity = z.infer<typeof tenancyEntity>
