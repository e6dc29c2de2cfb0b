import { randomUUID } from 'node:crypto'
import { type RecordedSignIn, recordSignIn } from '../../src/accounts/record-sign-in.ts'
import type { AccountRow } from '../../src/accounts/store.ts'
import { findClient } from '../../src/apps/find.ts'
import type { AppsSigninFixture } from './fixture.ts'
import type { TestInbox } from './tenant.ts'

/** Records a sign-in as the exchange of a code does. */
export async function attemptSignIn(
  { db, outbox }: Pick<AppsSigninFixture, 'db' | 'outbox'>,
  clientId: string,
  inbox: TestInbox,
): Promise<RecordedSignIn> {
  const client = await findClient(db, clientId, { open: true })
  if (!client) throw new Error(`${clientId} is no client`)
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, address } = inbox
  return db.transaction((tx) =>
    recordSignIn(tx, outbox, {
      client,
      inbox: { organizationId, podId, inboxUid, address },
      transaction: randomUUID(),
      credentialId: randomUUID(),
      scopes: ['openid', 'email'],
    }),
  )
}

/** The same, and fails unless it was recorded. @returns the account. */
export async function signIn(
  fixture: Pick<AppsSigninFixture, 'db' | 'outbox'>,
  clientId: string,
  inbox: TestInbox,
): Promise<AccountRow> {
  const recorded = await attemptSignIn(fixture, clientId, inbox)
  if (recorded.outcome !== 'recorded') throw new Error(`the sign-in was not recorded: ${recorded.outcome}`)
  return recorded.account
}
