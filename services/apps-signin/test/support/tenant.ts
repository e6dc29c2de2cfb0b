import { randomUUID } from 'node:crypto'
import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { SignInCredential, SignInInbox } from '@restante/contracts/internal'
import { callerOf, randomName } from '@restante/testkit'
import type { AppsSigninFixture } from './fixture.ts'

/** An inbox with the key that may sign it in. */
export interface TestInbox extends SignInInbox {
  /** As the gateway puts it into the token of a caller. */
  readonly asCaller: CallerInbox
}

/** An organization that the fake gateway knows, with callers of each tier. */
export interface Tenant {
  readonly id: string
  /** A bearer key of the organization that may do everything, `app_connect` included. */
  readonly owner: Caller
  /** The key of an inbox, or the organization's key on the path of the inbox. */
  inInbox(inbox: TestInbox, tier?: 'organization' | 'inbox'): Caller
  inPod(podId: string, tier?: 'organization' | 'pod'): Caller
  /** An inbox of the default pod, or of another one. */
  inbox(podId?: string): TestInbox
  /** An active sign-in key of an inbox, or what a test wants to be different. */
  key(inbox: TestInbox, overrides?: Partial<SignInCredential>): SignInCredential
}

/** Makes an organization. */
export function makeTenant({ gateway }: Pick<AppsSigninFixture, 'gateway'>): Tenant {
  const id = randomUUID()
  const credentialId = randomUUID()
  const caller = (tier: Caller['credential']['tier'], overrides: Partial<Caller> = {}) =>
    callerOf({
      organization_id: id,
      credential: { ...callerOf().credential, id: credentialId, tier, app_connect: true },
      ...overrides,
    })
  return {
    id,
    owner: caller('organization'),
    inInbox: ({ asCaller, pod_id }, tier = 'inbox') => caller(tier, { pod_id, inbox: asCaller }),
    inPod: (podId, tier = 'pod') => caller(tier, { pod_id: podId }),
    inbox(podId = id) {
      const address = `${randomName()}@restante.test`
      const inbox = { organization_id: id, pod_id: podId, inbox_uid: randomUUID(), address }
      gateway.inboxes.set(inbox.inbox_uid, inbox)
      return { ...inbox, asCaller: { uid: inbox.inbox_uid, address, pod_id: podId, paused: false } }
    },
    key(inbox, overrides = {}) {
      const key: SignInCredential = {
        api_key_id: randomUUID(),
        family: 'sign_in',
        status: 'active',
        organization_id: id,
        pod_id: inbox.pod_id,
        inbox_uid: inbox.inbox_uid,
        app_connect: true,
        app_share_owner: false,
        created_by: credentialId,
        ...overrides,
      }
      gateway.credentials.set(key.api_key_id, key)
      return key
    },
  }
}
