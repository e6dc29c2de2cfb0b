import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { isInScope, organizationScope, requireInbox, scopeFilter } from '../../src/identity/index.ts'

const [organizationId, podId, inboxUid] = [randomUUID(), randomUUID(), randomUUID()]
const inbox = { uid: inboxUid, address: 'a@b.test', pod_id: podId, paused: false }

const caller: Caller = {
  organization_id: organizationId,
  credential: { id: randomUUID(), type: 'bearer', tier: 'organization', app_connect: false, provisional: false },
  sending: 'ok',
  unverified: false,
}

const ROWS = {
  'its organization': { organizationId, podId: null, inboxUid: null },
  'its pod': { organizationId, podId, inboxUid: null },
  'its inbox': { organizationId, podId, inboxUid },
  'another inbox of its pod': { organizationId, podId, inboxUid: randomUUID() },
  'another pod': { organizationId, podId: randomUUID(), inboxUid: null },
  'an inbox of another pod': { organizationId, podId: randomUUID(), inboxUid: randomUUID() },
  'another organization': { organizationId: randomUUID(), podId: null, inboxUid: null },
  'the same pod in another organization': { organizationId: randomUUID(), podId, inboxUid: null },
  'the same inbox in another organization': { organizationId: randomUUID(), podId, inboxUid },
}

function rowsSeenBy(asked: Caller): string[] {
  const scope = scopeFilter(asked)
  return Object.entries(ROWS).flatMap(([name, row]) => (isInScope(scope, row) ? [name] : []))
}

describe('the scope of a request', () => {
  it('is the whole organization where neither path nor key narrows it', () => {
    expect(rowsSeenBy(caller)).toEqual([
      'its organization',
      'its pod',
      'its inbox',
      'another inbox of its pod',
      'another pod',
      'an inbox of another pod',
    ])
    expect(scopeFilter(caller)).toEqual(organizationScope(organizationId))
  })

  it('is one pod and what is in it where the path or the key narrows it to a pod', () => {
    expect(rowsSeenBy({ ...caller, pod_id: podId })).toEqual(['its pod', 'its inbox', 'another inbox of its pod'])
  })

  it('is one inbox where the path or the key narrows it to an inbox', () => {
    expect(rowsSeenBy({ ...caller, pod_id: podId, inbox })).toEqual(['its inbox'])
  })

  it('gives an operation below an inbox the inbox, and 404 where there is none', () => {
    expect(requireInbox({ ...caller, pod_id: podId, inbox })).toBe(inbox)
    expect(() => requireInbox({ ...caller, pod_id: podId })).toThrow(
      expect.objectContaining({ status: 404, message: 'Inbox not found' }),
    )
  })
})
