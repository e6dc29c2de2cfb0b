import { createHash } from 'node:crypto'
import { restrictedAmong } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { MessageRow } from '../mailbox/rows/rows.ts'

/** The columns of a stored message that decide whether another mail is the same one. */
export type StoredMail = Pick<MessageRow, 'inbox_uid' | 'digest' | 'direction' | 'arrival_labels' | 'labels'>

const WITH_DIGESTS = sql<StoredMail, [inboxUids: readonly string[], digests: readonly string[]]>(`
select m.inbox_uid, m.digest, direction, arrival_labels, labels
  from (select distinct inbox_uid, digest from unnest($1::uuid[], $2::text[]) as given(inbox_uid, digest)) as wanted
  join messages as m on m.inbox_uid = wanted.inbox_uid and m.digest = wanted.digest`)

/**
 * The identity of a mail (mail 2): the Message-ID of the header, the author, and the digest of the decoded content.
 * Without exactly one author, the text of `From` is used instead, because an empty address identifies no author.
 * @returns SHA-256, hex
 */
export function mailDigest(mail: {
  readonly headerId: string
  readonly sender: string
  readonly senderAddress: string
  readonly content: string
}): string {
  const author = mail.senderAddress === '' ? { text: mail.sender } : { address: mail.senderAddress }
  return createHash('sha256')
    .update(JSON.stringify([mail.headerId, author, mail.content]))
    .digest('hex')
}

/** The stored messages with these digests, each in its inbox. */
export function messagesWithDigests(
  db: Queryable,
  wanted: readonly Pick<MessageRow, 'inbox_uid' | 'digest'>[],
): Promise<StoredMail[]> {
  return db.query(
    WITH_DIGESTS,
    wanted.map(({ inbox_uid }) => inbox_uid),
    wanted.map(({ digest }) => digest),
  )
}

/**
 * Whether a received mail is stored already. A stored copy that arrived with a restricted label which the new mail does
 * not get does not count: otherwise a forged copy, which arrives as `unauthenticated`, would make the genuine mail
 * disappear. A copy that the inbox itself has sent counts whatever its labels (mail 2).
 */
export function isDuplicate(
  mail: Pick<MessageRow, 'inbox_uid' | 'digest' | 'labels'>,
  stored: readonly StoredMail[],
): boolean {
  const given = restrictedAmong(mail.labels)
  return stored.some(
    (one) =>
      one.inbox_uid === mail.inbox_uid &&
      one.digest === mail.digest &&
      (one.direction === 'sent' || distrustAtArrival(one).every((label) => given.includes(label))),
  )
}

/** Labels that a message arrived with because its sender or content was not trusted: `trash` is set by its reader. */
function distrustAtArrival({ arrival_labels, labels }: StoredMail) {
  return restrictedAmong(arrival_labels ?? labels).filter((label) => label !== 'trash')
}
