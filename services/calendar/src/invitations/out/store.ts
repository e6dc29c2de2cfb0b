import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { PlannedMail } from './change.ts'

/** A mail on its way to mail-send. */
export interface OutgoingMail {
  readonly id: string
  readonly inbox_uid: string
  readonly event_id: string | null
  readonly recipient: string
  readonly recipient_name: string | null
  readonly subject: string
  readonly text: string
  readonly method: PlannedMail['method']
  readonly calendar: string
  readonly in_reply_to: string | null
}

const COLUMNS = 'id, inbox_uid, event_id, recipient, recipient_name, subject, text, method, calendar, in_reply_to'

const INVITED = sql<{ email: string; message_id: string | null }, [eventId: string, emails: readonly string[]]>(
  'select email, message_id from invited where event_id = $1 and email = any($2::text[])',
)

const INVITE = sql<
  never,
  [eventId: string, inboxUid: string, organizationId: string, emails: readonly string[], messageIds: readonly string[]]
>(`
insert into invited (event_id, inbox_uid, organization_id, email, message_id)
select $1, $2, $3, email, message_id from unnest($4::text[], $5::text[]) as given(email, message_id)
on conflict (event_id, email) do nothing`)

// The clock and not the start of the transaction: changes of one event follow each other, and so do their mails.
const ADD = sql<never, [mails: string, organizationId: string]>(`
insert into outgoing_mails (organization_id, created_at, ${COLUMNS})
select $2, clock_timestamp(), ${COLUMNS}
  from jsonb_to_recordset($1::jsonb) as mail(id uuid, inbox_uid uuid, event_id uuid, recipient text,
       recipient_name text, subject text, text text, method text, calendar text, in_reply_to text)`)

const FIND = sql<OutgoingMail & { is_next: boolean }, [id: string]>(`
select ${COLUMNS}, not exists (
    select from outgoing_mails as earlier
     where earlier.event_id = mail.event_id and earlier.recipient = mail.recipient
       and (earlier.created_at, earlier.id) < (mail.created_at, mail.id)) as is_next
  from outgoing_mails as mail where id = $1`)

const DELETE = sql<{ id: string | null }, [id: string]>(`
with ended as (delete from outgoing_mails where id = $1 returning *)
select (select mail.id from outgoing_mails as mail
         where mail.event_id = ended.event_id and mail.recipient = ended.recipient and mail.id <> ended.id
         order by mail.created_at, mail.id limit 1) as id
  from ended`)

/** Mails that wait to be handed to mail-send, and who was invited to what. */
export const outgoing = {
  /** With the mails that invited them first. */
  async invited(on: Queryable, eventId: string, emails: readonly string[]): Promise<Map<string, string | null>> {
    const rows = await on.query(INVITED, eventId, emails)
    return new Map(rows.map(({ email, message_id }) => [email, message_id]))
  },

  /** Keeps the mail that invited somebody first. */
  async invite(
    tx: Tx,
    { event_id, inbox_uid, organization_id }: Pick<PlannedMail, 'event_id' | 'inbox_uid' | 'organization_id'>,
    mails: readonly { readonly recipient: string; readonly message_id: string }[],
  ): Promise<void> {
    const emails = mails.map(({ recipient }) => recipient)
    const ids = mails.map(({ message_id }) => message_id)
    if (mails.length > 0) await tx.query(INVITE, event_id, inbox_uid, organization_id, emails, ids)
  },

  async add(tx: Tx, organizationId: string, mails: readonly OutgoingMail[]): Promise<void> {
    if (mails.length > 0) await tx.query(ADD, JSON.stringify(mails), organizationId)
  },

  /** A mail, and whether it is the earliest that waits for its recipient about its event. */
  async find(on: Queryable, id: string): Promise<(OutgoingMail & { readonly is_next: boolean }) | undefined> {
    const [row] = await on.query(FIND, id)
    return row
  },

  /** @returns the next mail that waits for the same recipient about the same event. */
  async delete(tx: Tx, id: string): Promise<string | undefined> {
    const [ended] = await tx.query(DELETE, id)
    return ended?.id ?? undefined
  },
}
