import { type Queryable, sql, type Tx } from '@restante/service/database'

const LOCK = sql<unknown, [organizationId: string]>(
  `select pg_advisory_xact_lock(hashtextextended('webhook warnings of ' || $1, 0))`,
)

/** Serializes what is noted about an organization with the end of a mail to it. Taken after the lock of a webhook. */
export async function lockWarnings(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(LOCK, organizationId)
}

const NOTE = sql<unknown, [webhookId: string, organizationId: string, failingSince: string, disabled: boolean]>(
  `insert into webhook_notices (webhook_id, organization_id, failing_since, disabled) values ($1, $2, $3, $4)
   on conflict (webhook_id) do update
     set failing_since = excluded.failing_since, disabled = excluded.disabled, mail_id = null`,
)

export interface NewNotice {
  readonly webhook_id: string
  readonly organization_id: string
  readonly failingSince: Date
  readonly disabled: boolean
}

/** Records what the next mail says about a webhook; an earlier notice that was not mailed is replaced. */
export async function addNotice(tx: Tx, notice: NewNotice): Promise<void> {
  const { webhook_id, organization_id, failingSince, disabled } = notice
  await tx.query(NOTE, webhook_id, organization_id, failingSince.toISOString(), disabled)
}

const CLAIM = sql<unknown, [organizationId: string, mailId: string]>(
  `update webhook_notices set mail_id = $2 where organization_id = $1 and mail_id is null
     and not exists (select from webhook_notices where organization_id = $1 and mail_id = $2)`,
)

/** Decides what a mail says, once: a repeated attempt mails the same. */
export async function claimNotices(on: Queryable, organizationId: string, mailId: string): Promise<void> {
  await on.query(CLAIM, organizationId, mailId)
}

/** A webhook that fails, or was disabled for it, as the mail names it. */
export interface FailingWebhook {
  readonly webhook_id: string
  readonly url: string
  readonly failing_since: Date
  readonly disabled: boolean
  /** Kinds of the latest failures. */
  readonly failures: string[]
}

// What was repaired, or changed by its owner, since the notice needs no mail.
const CLAIMED = sql<FailingWebhook, [organizationId: string, mailId: string]>(
  `select n.webhook_id, w.url, n.failing_since, n.disabled, array(
     select distinct coalesce('status ' || (last ->> 'http_status'), last ->> 'error', 'unknown')
     from (select attempts -> -1 as last from delivery_log
           where webhook_id = n.webhook_id and state <> 'delivered' order by created_at desc, id desc limit 50) as recent
     where last is not null) as failures
   from webhook_notices n join webhooks w on w.id = n.webhook_id
   where n.organization_id = $1 and n.mail_id = $2
     and case when n.disabled then not w.enabled else w.enabled and w.warned_at is not null end
   order by n.disabled desc, n.failing_since, n.webhook_id`,
)

/** What a mail says: its notices that still hold. */
export function claimedNotices(on: Queryable, organizationId: string, mailId: string): Promise<FailingWebhook[]> {
  return on.query(CLAIMED, organizationId, mailId)
}

const FREE_AT = sql<{ free_at: Date }, [organizationId: string]>(
  `select mailed_at + interval '1 day' as free_at from warned_organizations
   where organization_id = $1 and mailed_at > now() - interval '1 day'`,
)

/** When the organization may be mailed again; undefined: now. */
export async function mailableAt(on: Queryable, organizationId: string): Promise<Date | undefined> {
  return (await on.query(FREE_AT, organizationId))[0]?.free_at
}

const DELETE_CLAIMED = sql<unknown, [organizationId: string, mailId: string]>(
  'delete from webhook_notices where organization_id = $1 and mail_id = $2',
)
const MARK_MAILED = sql<unknown, [organizationId: string]>(
  `insert into warned_organizations (organization_id, mailed_at) values ($1, now())
   on conflict (organization_id) do update set mailed_at = excluded.mailed_at`,
)
const FORGET_MAILED = sql<unknown>(`delete from warned_organizations where mailed_at < now() - interval '1 day'`)
const MORE = sql<{ more: boolean }, [organizationId: string]>(
  'select exists (select from webhook_notices where organization_id = $1) as more',
)

/** Ends a mail. @returns whether something was noted since it was written. */
export async function endMail(tx: Tx, organizationId: string, mailId: string, mailed: boolean): Promise<boolean> {
  await tx.query(DELETE_CLAIMED, organizationId, mailId)
  await tx.query(FORGET_MAILED)
  if (mailed) await tx.query(MARK_MAILED, organizationId)
  const [row] = await tx.query(MORE, organizationId)
  return row?.more ?? false
}
