import { type OperationDefinition, type OperationId, operations } from '../../src/operations/index.ts'
import {
  type Access,
  accessBelowWrongParent,
  accessOf,
  CREDENTIALS,
  type Credential,
  demandedPermission,
  namesResource,
} from '../../src/testing.ts'
import type { Tier } from '../../src/vocabulary/index.ts'

const DENIED: Access = { status: 403, code: 'missing_permission' }
const FORBIDDEN: Access = { status: 403, code: 'forbidden' }
const missing = (what: string): Access => ({ status: 404, code: 'not_found', missing: what })

type Row = readonly [id: OperationId, prefix: Tier, credential: Credential, permitted: boolean, expected: Access]

/** Written out by hand from the specification (identity 4.2, 4.3, 5.1, 5.4): what the function must never drift from. */
const ROWS: readonly Row[] = [
  ['agent.signUp', 'organization', 'none', false, { status: 200 }],
  ['agent.signUp', 'organization', 'inbox', false, { status: 200 }],
  ['auth.me', 'organization', 'none', false, { status: 401, code: 'missing_authorization' }],
  ['auth.me', 'organization', 'foreign inbox', false, { status: 200 }],
  ['auth.me', 'organization', 'provisional key', true, { status: 200 }],
  ['agent.verify', 'organization', 'organization', true, DENIED],
  ['agent.verify', 'organization', 'unverified organization', true, { status: 200 }],
  ['agent.verify', 'organization', 'provisional key', true, { status: 200 }],
  ['agent.human', 'organization', 'provisional key', true, DENIED],
  ['organizations.get', 'organization', 'organization', false, { status: 200 }],
  ['organizations.get', 'organization', 'pod', true, DENIED],
  ['pods.get', 'organization', 'pod', true, { status: 200 }],
  ['pods.get', 'organization', 'foreign pod', true, missing('Pod')],
  ['pods.get', 'organization', 'foreign pod', false, DENIED],
  ['pods.list', 'organization', 'inbox', true, FORBIDDEN],
  ['inboxes.list', 'organization', 'inbox', true, { status: 200 }],
  ['inboxes.list', 'pod', 'inbox', true, FORBIDDEN],
  ['inboxes.list', 'pod', 'inbox', false, FORBIDDEN],
  ['inboxes.list', 'organization', 'foreign organization', true, { status: 200 }],
  ['inboxes.create', 'organization', 'inbox', true, DENIED],
  ['inboxes.create', 'pod', 'pod', true, { status: 200 }],
  ['inboxes.create', 'pod', 'foreign pod', true, missing('Pod')],
  ['inboxes.create', 'organization', 'unverified organization', true, { status: 403, code: 'limit_exceeded' }],
  ['inboxes.delete', 'pod', 'foreign organization', true, missing('Pod')],
  ['inboxes.delete', 'organization', 'foreign inbox', true, missing('Inbox')],
  ['inboxes.delete', 'organization', 'inbox', true, { status: 204 }],
  ['apiKeys.create', 'inbox', 'unverified organization', true, DENIED],
  ['apiKeys.list', 'inbox', 'unverified organization', true, { status: 200 }],
  ['apiKeys.get', 'organization', 'foreign pod', true, missing('API key')],
  ['messages.reply', 'inbox', 'foreign pod', true, missing('Inbox')],
  ['messages.reply', 'inbox', 'pod', true, { status: 200 }],
  ['threads.get', 'organization', 'foreign inbox', true, missing('Thread')],
  ['messages.reply', 'inbox', 'public key', true, { status: 200 }],
  ['pods.create', 'organization', 'public key', false, DENIED],
  ['apps.list', 'organization', 'inbox', false, { status: 200 }],
  ['apps.get', 'organization', 'foreign organization', false, { status: 200 }],
  ['apps.listAccounts', 'organization', 'foreign pod', true, { status: 200 }],
  ['apps.connect', 'organization', 'inbox', true, { status: 202 }],
  ['apps.connect', 'organization', 'foreign pod', true, missing('Inbox')],
  ['apps.connect', 'organization', 'unverified organization', true, DENIED],
  ['providers.get', 'organization', 'provisional key', true, DENIED],
  ['apps.connect', 'organization', 'public key', true, DENIED],
  ['apps.authorize', 'inbox', 'foreign inbox', true, missing('Inbox')],
  ['apps.authorize', 'inbox', 'public key', true, DENIED],
  ['accounts.get', 'organization', 'foreign inbox', true, missing('Account')],
  ['accounts.get', 'pod', 'inbox', true, FORBIDDEN],
  ['accounts.update', 'organization', 'public key', true, DENIED],
  ['accounts.update', 'organization', 'inbox', true, { status: 200 }],
  ['stream.connect', 'organization', 'public key', true, { status: 403 }],
  ['stream.connect', 'organization', 'inbox', false, { status: 101 }],
  ['stream.connect', 'organization', 'none', false, { status: 403 }],
  ['stream.connect', 'organization', 'provisional key', true, { status: 403 }],
]

const kinds = Object.keys(CREDENTIALS).filter((name): name is Credential => Object.hasOwn(CREDENTIALS, name))
/** Their one key holds every permission. */
const agents: readonly Credential[] = ['unverified organization', 'provisional key']

describe('the route table', () => {
  it.each(ROWS)('answers %s at %s to %s (permitted: %s)', (id, prefix, credential, permitted, expected) => {
    expect(accessOf(operations[id], prefix, credential, permitted)).toEqual(expected)
  })

  it('requires message_reply for a signed reply, and message_send for a bearer key', () => {
    expect(demandedPermission(operations['messages.reply'], 'public key')).toBe('message_reply')
    expect(demandedPermission(operations['messages.reply'], 'organization')).toBe('message_send')
    expect(demandedPermission(operations['messages.send'], 'public key')).toBe('message_send')
  })

  it('refuses an operation without its permission', () => {
    for (const operation of Object.values<OperationDefinition>(operations)) {
      if (operation.authentication === 'none' || ['any', 'organization_read'].includes(operation.permission)) continue
      for (const prefix of operation.prefixes) {
        for (const credential of kinds.filter((kind) => !agents.includes(kind))) {
          expect(accessOf(operation, prefix, credential, false).status).toBeGreaterThanOrEqual(400)
        }
      }
    }
  })

  it('hides every resource in a path from foreign keys', () => {
    for (const operation of Object.values<OperationDefinition>(operations)) {
      if (operation.authentication === 'none') continue
      for (const prefix of operation.prefixes) {
        if (prefix === 'organization' && !namesResource(operation)) continue
        for (const credential of kinds.filter((kind) => kind.startsWith('foreign'))) {
          expect(accessOf(operation, prefix, credential, true).status).toBeGreaterThanOrEqual(403)
        }
      }
    }
  })

  it('finds nothing below another parent', () => {
    expect(accessBelowWrongParent(operations['threads.get'], 'pod')).toEqual(missing('Thread'))
    expect(accessBelowWrongParent(operations['messages.getAttachment'], 'inbox')).toEqual(missing('Message'))
    expect(accessBelowWrongParent(operations['inboxes.get'], 'pod')).toEqual(missing('Inbox'))
    expect(accessBelowWrongParent(operations['inboxes.get'], 'organization')).toBeUndefined()
    expect(accessBelowWrongParent(operations['threads.list'], 'pod')).toBeUndefined()
  })
})
