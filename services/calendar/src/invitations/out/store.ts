import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { PlannedMail } from './change.ts'

/** A mail on its way to mail-send. */
export interface OutgoingMail {
  readonly id: string
  readonly inbox_uid: string
  readonly event_id: string
  readonly recipient: string
  readonly recipient_name: string | null
  readonly about: PlannedMail['about']
  readonly title: string
  readonly text: string
  readonly method: PlannedMail['method']
  readonly calendar: string
  readonly only_invited: boolean
  /** It gets this Message-ID. */
  readonly message_id: string
  /** Null of an invitation or cancellation: its recipient has not been invited before. */
  readonly in_reply_to: string | null
}

const COLUMNS = `id, inbox_uid, event_id, recipient, recipient_name, about, title, text, method, calendar, only_invited,
  message_id, in_reply_to`

// Locked: the mail that invited them may just be refused.
const INVITED = sql<{ email: string; message_id: string }, [eventId: string, emails: readonly string[]]>(
  'select email, message_id from invited where event_id = $1 and email = any($2::text[]) order by email for update',
)

const INVITE = sql<
  never,
  [eventId: string, inboxUid: string, organizationId: string, emails: readonly string[], messageIds: readonly string[]]
>(`
insert into invited (event_id, inbox_uid, organization_id, email, message_id)
select $1, $2, $3, email, message_id from unnest($4::text[], $5::text[]) as given(email, message_id)
on conflict (event_id, email) do nothing`)

// The clock and not the start of the transaction: changes of one event follow each other, and so do their mails.
const ADD = sql<never, [mails: string, organizationId: string, takeOvers: number]>(`
insert into outgoing_mails (organization_id, take_overs, created_at, ${COLUMNS})
select $2, $3, clock_timestamp(), ${COLUMNS}
  from jsonb_to_recordset($1::jsonb) as mail(id uuid, inbox_uid uuid, event_id uuid, recipient text,
       recipient_name text, about text, title text, text text, method text, calendar text, only_invited boolean,
       message_id text, in_reply_to text)`)

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

type OfMail = [eventId: string, recipient: string, messageId: string]

const LOCK_INVITED = sql<{ email: string }, OfMail>(
  'select email from invited where event_id = $1 and email = $2 and message_id = $3 for update',
)
const FOLLOWING = sql<Pick<OutgoingMail, 'id' | 'about' | 'only_invited' | 'message_id'>, OfMail>(`
select id, about, only_invited, message_id from outgoing_mails
 where event_id = $1 and recipient = $2 and in_reply_to = $3 order by created_at, id`)
const UNINVITE = sql<never, OfMail>('delete from invited where event_id = $1 and email = $2 and message_id = $3')
const INVITED_BY = sql<never, [...OfMail, other: string]>(
  'update invited set message_id = $4 where event_id = $1 and email = $2 and message_id = $3',
)
const ANSWERING = sql<never, [ids: readonly string[], messageId: string | null]>(
  'update outgoing_mails set in_reply_to = $2 where id = any($1::uuid[])',
)
const DROP = sql<never, [ids: readonly string[]]>('delete from outgoing_mails where id = any($1::uuid[])')

/** Mails that wait to be handed to mail-send, and who was invited to what. */
export const outgoing = {
  /** With the mails that invited them first. */
  async invited(on: Queryable, eventId: string, emails: readonly string[]): Promise<Map<string, string>> {
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

  /** @param takeOvers of the caller. */
  async add(
    tx: Tx,
    { organization_id }: Pick<PlannedMail, 'organization_id'>,
    mails: readonly OutgoingMail[],
    takeOvers: number,
  ): Promise<void> {
    if (mails.length > 0) await tx.query(ADD, JSON.stringify(mails), organization_id, takeOvers)
  },

  /**
   * A mail that would have been the first to invite its recipient has not left. The next invitation that waits is the
   * first one now. Of a removal whoever got no invitation before is not told.
   * @returns the mails that are dropped.
   */
  async notInvited(tx: Tx, { event_id, recipient, message_id }: OutgoingMail): Promise<string[]> {
    const of: OfMail = [event_id, recipient, message_id]
    await tx.query(LOCK_INVITED, ...of)
    const following = await tx.query(FOLLOWING, ...of)
    const found = following.findIndex(({ about }) => about === 'invitation')
    const position = found === -1 ? following.length : found
    const first = following[position]
    if (first) await tx.query(INVITED_BY, ...of, first.message_id)
    else await tx.query(UNINVITE, ...of)
    const [before, after] = [following.slice(0, position), following.slice(position + 1)]
    const ids = (mails: readonly { readonly id: string }[]) => mails.map(({ id }) => id)
    const dropped = ids(before.filter((mail) => mail.only_invited))
    await tx.query(DROP, dropped)
    await tx.query(ANSWERING, ids(first ? [...before, first] : before), null)
    if (first) await tx.query(ANSWERING, ids(after), first.message_id)
    return dropped
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
