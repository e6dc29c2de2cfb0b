import { PERMISSIONS, type Permission, type PermissionGrant } from '@restante/contracts/access'
import {
  type Grant,
  grantForNew,
  grantForNewPublicKey,
  grantForPublicKeyUpdate,
  grantForUpdate,
  permissionsOnWire,
} from '../../src/credentials/grants.ts'
import { type Rights, rightsFromRow, sameRights } from '../../src/identity/rights.ts'

function rights(names: readonly Permission[] | 'all', appConnect = false): Rights {
  return { permissions: names === 'all' ? undefined : new Set(names), appConnect }
}

function outcome(grant: Grant): string {
  if (grant.outcome === 'escalation') return `escalation: ${grant.missing.join(' ')}`
  if (grant.outcome === 'bearer_only') return `bearer only: ${grant.asked.join(' ')}`
  if (grant.outcome === 'unrestricted_required') return `unrestricted required to ${grant.to}`
  if (grant.outcome !== 'granted') return grant.outcome.replaceAll('_', ' ')
  const shown = permissionsOnWire(grant.rights)
  return `${shown === undefined ? 'all' : Object.keys(shown).join(' ')}${grant.rights.appConnect ? ' +connect' : ''}`
}

const READER = rights(['inbox_read', 'message_read'])
const CONNECTOR = rights(['inbox_read'], true)

describe('grants of a new key', () => {
  it.each<[string, Rights, PermissionGrant | null | undefined, string]>([
    ['copies an unrestricted creator without app_connect', rights('all', true), undefined, 'all'],
    ['copies a restricted creator', READER, undefined, 'inbox_read message_read'],
    ['copies a restricted creator without app_connect', CONNECTOR, undefined, 'inbox_read'],
    ['null from an unrestricted creator', rights('all', true), null, 'all'],
    ['null from a restricted creator', READER, null, 'unrestricted required to open'],
    ['grants what is true', rights('all'), { pod_read: true, pod_create: false }, 'pod_read'],
    ['grants nothing for an empty object', rights('all', true), {}, ''],
    ['refuses what the creator lacks', READER, { inbox_read: true, pod_read: true }, 'escalation: pod_read'],
    ['lets false pass, whoever says it', READER, { pod_read: false }, ''],
    ['grants app_connect to whom asks and may', rights('all', true), { app_connect: true }, 'app_connect +connect'],
    ['an unrestricted creator without the bit', rights('all'), { app_connect: true }, 'escalation: app_connect'],
    ['a restricted creator with the bit', CONNECTOR, { app_connect: true }, 'app_connect +connect'],
    ['app_share_owner has no bit of its own', rights('all'), { app_share_owner: true }, 'app_share_owner'],
  ])('%s', (_case, creator, requested, expected) => {
    expect(outcome(grantForNew(creator, requested))).toBe(expected)
  })
})

describe('grants of a new public key', () => {
  const everything = PERMISSIONS.filter((name) => name !== 'account_update' && name !== 'app_connect').join(' ')
  it.each<[string, Rights, PermissionGrant | undefined, string]>([
    ['lists what an unrestricted creator holds', rights('all'), undefined, everything],
    ['copies app_connect, where it is held', CONNECTOR, undefined, 'inbox_read app_connect +connect'],
    ['never copies account_update', rights(['inbox_read', 'account_update']), undefined, 'inbox_read'],
    ['grants what is true', rights('all'), { pod_read: true, account_update: false }, 'pod_read'],
    [
      'refuses account_update to whomever',
      rights('all', true),
      { account_update: true },
      'bearer only: account_update',
    ],
    ['refuses what the creator lacks', READER, { pod_read: true }, 'escalation: pod_read'],
  ])('%s', (_case, creator, requested, expected) => {
    expect(outcome(grantForNewPublicKey(creator, requested))).toBe(expected)
  })
})

describe('grants of an update of a public key', () => {
  it.each<[string, Rights, Rights, PermissionGrant | null | undefined, string]>([
    ['is never opened', rights('all'), READER, null, 'explicit required'],
    ['merges what is listed', rights('all'), READER, { inbox_read: false, pod_read: true }, 'message_read pod_read'],
    ['omitted leaves everything', rights([]), READER, undefined, 'inbox_read message_read'],
    ['refuses account_update', rights('all'), READER, { account_update: true }, 'bearer only: account_update'],
    ['needs the editor to hold what is added', READER, CONNECTOR, { pod_read: true }, 'escalation: pod_read'],
  ])('%s', (_case, editor, target, requested, expected) => {
    expect(outcome(grantForPublicKeyUpdate(editor, target, requested))).toBe(expected)
  })
})

describe('grants of an update', () => {
  const ALL = rights('all', true)
  it.each<[string, Rights, Rights, PermissionGrant | null | undefined, string]>([
    ['omitted leaves everything', READER, rights('all', true), undefined, 'all +connect'],
    ['null opens for an unrestricted editor', ALL, READER, null, 'all'],
    ['null keeps the bit', ALL, CONNECTOR, null, 'all +connect'],
    ['null from a restricted editor', READER, READER, null, 'unrestricted required to open'],
    ['merges what is listed', ALL, READER, { pod_read: true, inbox_read: false }, 'message_read pod_read'],
    ['needs the editor to hold what is added', READER, CONNECTOR, { pod_read: true }, 'escalation: pod_read'],
    [
      'sends again what the target has',
      rights(['api_key_update']),
      READER,
      { inbox_read: true },
      'inbox_read message_read',
    ],
    ['takes away without holding', rights([]), READER, { inbox_read: false }, 'message_read'],
    ['turns an unrestricted target into the listed members', ALL, ALL, { inbox_read: true }, 'inbox_read'],
    ['keeps the bit of an unrestricted target when listed', ALL, ALL, { app_connect: true }, 'app_connect +connect'],
    [
      'an unrestricted target needs an unrestricted editor',
      READER,
      ALL,
      { inbox_read: true },
      'unrestricted required to narrow',
    ],
    ['takes the bit away', ALL, CONNECTOR, { app_connect: false }, 'inbox_read'],
    ['gives the bit only if held', rights('all'), READER, { app_connect: true }, 'escalation: app_connect'],
  ])('%s', (_case, editor, target, requested, expected) => {
    expect(outcome(grantForUpdate(editor, target, requested))).toBe(expected)
  })
})

describe('stored rights', () => {
  it('come back as they were stored, unknown names left out', () => {
    expect(sameRights(rightsFromRow({ permissions: null, appConnect: true }), rights('all', true))).toBe(true)
    expect(
      sameRights(rightsFromRow({ permissions: ['inbox_read', 'of_old'], appConnect: false }), rights(['inbox_read'])),
    ).toBe(true)
    expect(sameRights(READER, rights(['inbox_read', 'pod_read']))).toBe(false)
    expect(sameRights(rights('all'), rights([]))).toBe(false)
  })
})
