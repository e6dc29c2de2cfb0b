import type { CallerCredential, SendingRight } from '@restante/contracts/access'
import type { Tier } from '@restante/contracts/vocabulary'
import { rightsFromRow } from './rights.ts'

/** The columns of `IdentityRow`, from `credentials c` and `organizations o`. */
export const IDENTITY_COLUMNS = `
       c.id, c.type, c.tier, c.organization_id, c.pod_id, c.inbox_uid,
       c.permissions, c.app_connect, c.provisional, c.expires_at, c.used_at,
       o.status as organization_status, o.authentication_type, o.human_email, o.take_overs, o.calendar_access`

/** Columns of the one look-up that authentication makes. */
export interface IdentityRow {
  readonly id: string
  readonly type: string
  readonly tier: string
  readonly organization_id: string
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly permissions: unknown
  readonly app_connect: boolean
  readonly provisional: boolean
  readonly expires_at: Date | null
  readonly used_at: Date | null
  readonly organization_status: string
  readonly authentication_type: string | null
  readonly human_email: string | null
  readonly take_overs: number
  readonly calendar_access: boolean
}

/** The owner and rights of a key: built once per look-up, read by every request that presents the key. */
export interface Identity {
  readonly organizationId: string
  readonly tier: Tier
  readonly podId: string | undefined
  readonly inboxUid: string | undefined
  readonly credential: CallerCredential
  /** Milliseconds since the epoch; Infinity: never. Checked at each request. */
  readonly expiresAt: number
  readonly usedAt: number
  readonly sending: SendingRight
  readonly unverified: boolean
  /** Number of take-overs of the organization (identity 5.1). */
  readonly takeOvers: number
  /** Whether calendars are open to the organization's keys (calendar 1). */
  readonly calendarAccess: boolean
}

export function identityOf(row: IdentityRow): Identity {
  const tier = tierOf(row.tier)
  const { permissions } = rightsFromRow({ permissions: row.permissions, appConnect: row.app_connect })
  return {
    organizationId: row.organization_id,
    tier,
    podId: row.pod_id ?? undefined,
    inboxUid: row.inbox_uid ?? undefined,
    credential: {
      id: row.id,
      type: row.type === 'public_key' ? 'public_key' : 'bearer',
      tier,
      ...(permissions === undefined ? {} : { permissions: [...permissions] }),
      app_connect: row.app_connect,
      provisional: row.provisional,
      ...(row.expires_at === null ? {} : { expires_at: row.expires_at.toISOString() }),
    },
    expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
    usedAt: row.used_at?.getTime() ?? 0,
    sending: sendingRight(row),
    unverified: row.authentication_type === 'agent_unverified',
    takeOvers: row.take_overs,
    calendarAccess: row.calendar_access,
  }
}

/**
 * The sending right of an organization (identity 5.4): an unverified agent may write only to its human, or to no one.
 */
export function sendingRight(row: {
  readonly organization_status: string
  readonly authentication_type: string | null
  readonly human_email: string | null
}): SendingRight {
  if (row.organization_status === 'suspended') return 'suspended'
  if (row.authentication_type !== 'agent_unverified') return 'ok'
  return row.human_email === null ? 'none' : `only:${row.human_email}`
}

function tierOf(text: string): Tier {
  switch (text) {
    case 'organization':
    case 'pod':
    case 'inbox':
      return text
    default:
      throw new TypeError(`a credential has no tier ${text}`)
  }
}
