import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import type { Db } from '../storage/database.ts'
import type { Actor } from './actor.ts'
import { recordAudit, type SignInAction } from './log.ts'

type AccountsTopic = Topic<'apps.accounts'>
type Fact = Exclude<EventOf<AccountsTopic>, { type: 'account.changed' }>

/** Who took a step of a sign-in, where no key is named. */
const SIGN_IN: Actor = { kind: 'system', id: 'sign-in' }

/**
 * Records in the audit log what apps-signin reports: each approved, refused and completed sign-in, and accounts that a key
 * disabled or enabled (apps 10). An account's state by itself says nothing more.
 */
export function accountsConsumer({ kafka, db }: { readonly kafka: Kafka; readonly db: Db }): Consumer<AccountsTopic> {
  const effect = (tx: Tx, event: Fact) => record(db, tx, event)
  return new Consumer({
    kafka,
    db,
    service: 'gateway',
    topic: topics['apps.accounts'],
    handlers: {
      'sign_in.approved': { effect },
      'sign_in.refused': { effect },
      'sign_in.completed': { effect },
      'account.status_changed': { effect },
    },
  })
}

async function record(db: Db, tx: Tx, event: Fact): Promise<void> {
  const { organization_id: organizationId, pod_id, inbox_uid, credential_id: id, at, ...facts } = event.payload
  const actor: Actor = id === undefined ? SIGN_IN : { kind: 'credential', id }
  const place = { podId: pod_id, inboxUid: inbox_uid }
  const after = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  const details = { after: Object.fromEntries(after) }
  await recordAudit(db.withOrm(tx), actor, new Date(at), { action: actionOf(event), organizationId, place, details })
}

function actionOf(event: Fact): SignInAction {
  if (event.type !== 'account.status_changed') return event.type
  return event.payload.status === 'disabled' ? 'account.disabled' : 'account.enabled'
}
