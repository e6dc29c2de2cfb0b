import { type Queryable, sql } from '@restante/service/database'
import { readableAttachments } from './readable-attachments.ts'
import type { BodyColumns, MessageWithBody } from './rows/rows.ts'

type Texts = readonly (string | null)[]

// Rows are passed as one JSON parameter, so that only the table defines the list of columns.
const INSERT_MESSAGES = sql<
  never,
  [
    rows: string,
    ids: Texts,
    texts: Texts,
    htmls: Texts,
    extractedTexts: Texts,
    extractedHtmls: Texts,
    searchTexts: Texts,
    headers: Texts,
    readable: string,
  ]
>(`
with added as (insert into messages select * from json_populate_recordset(null::messages, $1::json)),
     waiting as (insert into unindexed_messages (id) select unnest($2::uuid[])),
     unread as (insert into attachment_texts (message_uid, attachment_id, organization_id)
                select message_uid, attachment_id, organization_id
                  from json_to_recordset($9::json) as readable(message_uid uuid, attachment_id uuid, organization_id uuid))
insert into message_bodies (id, text, html, extracted_text, extracted_html, search_text, headers)
select id, text, html, extracted_text, extracted_html, search_text, headers::jsonb
  from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       as body(id, text, html, extracted_text, extracted_html, search_text, headers)`)

/** Inserts messages, in statements of a bounded size: one that takes too long would be repeated, and take as long again. */
export async function insertMessages(tx: Queryable, added: readonly MessageWithBody[]): Promise<void> {
  for (const part of inParts(added)) await insertPart(tx, part)
}

/** Of the texts of messages that one statement inserts, in characters. */
const INSERTED_TOGETHER = 4 * 1024 * 1024

function inParts(added: readonly MessageWithBody[]): MessageWithBody[][] {
  const parts: MessageWithBody[][] = []
  let room = 0
  for (const one of added) {
    const length = lengthOf(one.body)
    if (length > room || parts.length === 0) {
      parts.push([])
      room = INSERTED_TOGETHER
    }
    parts.at(-1)?.push(one)
    room -= length
  }
  return parts
}

function lengthOf({ text, html, extracted_text, extracted_html, search_text }: BodyColumns): number {
  return [text, html, extracted_text, extracted_html, search_text].reduce((sum, one) => sum + (one?.length ?? 0), 0)
}

async function insertPart(tx: Queryable, added: readonly MessageWithBody[]): Promise<void> {
  await tx.query(
    INSERT_MESSAGES,
    JSON.stringify(added.map(({ message }) => message)),
    added.map(({ message }) => message.id),
    added.map(({ body }) => body.text),
    added.map(({ body }) => body.html),
    added.map(({ body }) => body.extracted_text),
    added.map(({ body }) => body.extracted_html),
    added.map(({ body }) => body.search_text),
    added.map(({ body }) => JSON.stringify(body.headers)),
    JSON.stringify(added.flatMap(({ message }) => readableAttachments(message))),
  )
}
