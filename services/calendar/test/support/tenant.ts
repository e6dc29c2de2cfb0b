import { randomUUID } from 'node:crypto'
import type { Caller, CallerInbox } from '@restante/contracts/access'
import { callerOf, randomName } from '@restante/testkit'

/** An inbox that the fake gateway knows. */
export interface TestInbox {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly address: string
  /** As the gateway puts it into the token of a caller. */
  readonly asCaller: CallerInbox
}

/** Makes an inbox that a gateway knows, in an organization of its own unless it is given. */
export function makeInbox(
  { inboxes }: { readonly inboxes: Map<string, TestInbox> },
  organizationId: string = randomUUID(),
): TestInbox {
  const address = `${randomName()}@restante.test`.toLowerCase()
  const [uid, created_at] = [randomUUID(), new Date(Date.now() - 60_000).toISOString()]
  const inbox: TestInbox = {
    organization_id: organizationId,
    pod_id: organizationId,
    inbox_uid: uid,
    address,
    asCaller: { uid, address, pod_id: organizationId, paused: false, created_at, display_name: 'Agent' },
  }
  inboxes.set(uid, inbox)
  return inbox
}

/** The organization's key, on the path of an inbox. */
export function callerFor(inbox: TestInbox, overrides: Partial<Caller> = {}): Caller {
  const { organization_id, pod_id, asCaller } = inbox
  return callerOf({ organization_id, pod_id, inbox: asCaller, ...overrides })
}
