import type { Caller } from '@restante/contracts/access'
import { operations } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import { byLength } from '@restante/testkit'
import type { Document, Fixture } from '../../fixture.ts'
import { pathOf } from '../../mailbox-fixture.ts'

export interface StoredPlace {
  readonly message_id: string
  readonly thread_id: string
}

/** A stored mail as its reader finds it. */
export interface MailRead {
  readonly message: Document
  /** The raw mail with the lines of this service above it. */
  readonly raw: Buffer
  /** The bytes of each attachment; of a mail with many, of some of them. */
  readonly files: readonly Buffer[]
}

/** How many attachments of one mail are read; of a mail with more, some at equal distances. */
const MOST_FILES = byLength({ short: 40, long: Number.POSITIVE_INFINITY })

/** What a reader must not find; its message says what is wrong. */
export class BadReadingError extends Error {
  override readonly name = 'BadReadingError'
}

/** The lines that this service adds above a mail. */
const TRACE = /^(?:(?:Return-Path|Delivered-To|Received-SPF|Authentication-Results|Received): .*\r\n(?:[ \t].*\r\n)*)+$/

/**
 * Reads one mail in every way that the API has: as a message, in its thread, raw, and its attachments.
 * @throws BadReadingError where an answer is not what every mail must have, whatever was sent.
 */
export async function readBack(fixture: Fixture, caller: Caller, { message_id, thread_id }: StoredPlace) {
  const place = pathOf(message_id)
  const { status, text, body } = await fixture.call(caller, 'messages.get', 'GET', place)
  if (status !== 200) throw new BadReadingError(`GET message: ${status} ${text.slice(0, 200)}`)
  const problem = problemOf(body, text)
  if (problem !== undefined) throw new BadReadingError(problem)
  if (!(await isInThread(fixture, caller, thread_id, message_id))) throw new BadReadingError('not in its thread')
  const download = async (operation: 'messages.getRaw' | 'messages.getAttachment', part: string): Promise<Buffer> => {
    const link = await fixture.call(caller, operation, 'GET', `${place}${part}`)
    if (link.status !== 200) throw new BadReadingError(`${part}: ${link.status}`)
    const file = await fetch(link.body.download_url.replace('http://public.test/v0', fixture.url))
    const bytes = Buffer.from(await file.arrayBuffer())
    if (file.status !== 200 || bytes.length !== link.body.size)
      throw new BadReadingError(`${part}: ${file.status}, ${bytes.length} bytes`)
    if (/filename="?[^;]*[/\\]/.test(file.headers.get('content-disposition') ?? ''))
      throw new BadReadingError(`${part} leads elsewhere`)
    return bytes
  }
  const raw = await download('messages.getRaw', '/raw')
  const files: Buffer[] = []
  const attachments = body.attachments ?? []
  const apart = Math.max(1, Math.ceil(attachments.length / MOST_FILES))
  for (const { attachment_id } of attachments.filter((_, at) => at % apart === 0))
    files.push(await download('messages.getAttachment', `/attachments/${attachment_id}`))
  return { message: body, raw, files } satisfies MailRead
}

/** What is wrong with a raw mail that was sent in this form; undefined: below the trace its bytes are the same. */
export function changeOf(raw: Buffer, sent: Buffer): string | undefined {
  const below = raw.subarray(Math.max(0, raw.length - sent.length))
  if (!below.equals(sent)) return 'the raw bytes differ'
  const trace = raw.toString('utf8', 0, raw.length - sent.length)
  return TRACE.test(trace) ? undefined : `above the mail is more than the trace: ${JSON.stringify(trace.slice(0, 200))}`
}

/** What is wrong with a message, whatever the mail; undefined: nothing. */
function problemOf(message: Document, text: string): string | undefined {
  const parsed = operations['messages.get'].response.safeParse(message)
  if (!parsed.success) return parsed.error.message.slice(0, 500)
  if (/\\u0000|\\ud[89a-f]/i.test(text)) return 'holds what PostgreSQL does not'
  const { mime, send: longest } = LIMITS
  const lists = [message.to, message.cc ?? [], message.bcc ?? [], message.reply_to ?? []]
  if (lists.some((list) => list.length > mime.addresses)) return 'too many addresses'
  if ((message.references ?? []).length > mime.references) return 'too many references'
  if ((message.attachments ?? []).length > mime.parts) return 'too many attachments'
  if ((message.subject ?? '').length > longest.subject) return 'the subject is too long'
  if (Buffer.byteLength(message.text ?? '') > 2 * mime.bodyBytes) return 'the text is too long'
  return undefined
}

async function isInThread(fixture: Fixture, caller: Caller, thread: string, message: string): Promise<boolean> {
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query: string = token === '' ? '' : `?page_token=${encodeURIComponent(token)}`
    const { status, body } = await fixture.call(caller, 'threads.get', 'GET', `/threads/${thread}${query}`)
    if (status !== 200) throw new BadReadingError(`GET thread: ${status}`)
    if (body.messages.some(({ message_id }) => message_id === message)) return true
    token = body.next_page_token
  }
  return false
}
