import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import type { CreateDraftBody } from '@restante/contracts/operations'
import type { Draft } from '@restante/contracts/resources'
import { isUuid } from '@restante/contracts/vocabulary'
import type { Schedule } from '@restante/jobs'
import type { Database } from '@restante/service/database'
import { attachmentHeaders } from '@restante/service/downloads'
import { ApiError, notFound } from '@restante/service/errors'
import { type Cursors, type Handlers, KeysetPage } from '@restante/service/http'
import { requireInbox, scopeFilter } from '@restante/service/identity'
import type { DraftLinks } from '../files/links.ts'
import { fileBlob, files, type KeptFile, storedOf } from '../files/store.ts'
import type { Sender } from '../sending/sender.ts'
import type { SendTimers } from '../timers/kinds.ts'
import { sendCommand } from './sending/send.ts'
import { attachmentOf, draftDocument, draftItem } from './state/documents.ts'
import { type DraftItemRow, type DraftRow, drafts } from './state/store.ts'
import type { DraftTools, DraftWriter, WrittenDraft } from './writing/write.ts'

export interface DraftRoutesOptions extends Pick<DraftTools, 'db' | 'outbox'> {
  readonly writer: DraftWriter
  readonly sender: Sender
  readonly timers: Schedule<SendTimers>
  readonly blobs: BlobStore
  readonly cursors: Cursors
  readonly links: DraftLinks
}

type DraftOperations =
  | 'drafts.list'
  | 'drafts.get'
  | 'drafts.getAttachment'
  | 'drafts.create'
  | 'drafts.update'
  | 'drafts.delete'
  | 'drafts.send'
  | 'messages.draftReply'
  | 'messages.draftReplyAll'
  | 'messages.draftForward'
  | 'draftFiles.download'

/** The operations of drafts (mail 11.1). */
export function draftRoutes(options: DraftRoutesOptions): Pick<Handlers<'mail-send'>, DraftOperations> {
  const { db, writer, cursors, links } = options
  type Request = Omit<Parameters<DraftWriter['create']>[1], 'inbox'>
  const create = async (body: CreateDraftBody, request: Request): Promise<Draft> =>
    documentOf(await writer.create(body, { ...request, inbox: requireInbox(request.caller) }))
  const visible = async (id: string, caller: Request['caller']): Promise<DraftRow> => {
    const row = isUuid(id) ? await drafts.inScope(db, id, scopeFilter(caller)) : undefined
    if (!row) throw notFound('Draft')
    return row
  }
  return {
    'drafts.list': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'drafts.list', within: scope, query })
      const rows = await drafts.page(db, scope, query, page)
      const kept = Map.groupBy(
        await files.ofDrafts(
          db,
          rows.map(({ id }) => id),
        ),
        ({ draft_id }) => draft_id,
      )
      const { items, members } = page.answer(rows, byChange, (row) => draftItem(row, kept.get(row.id) ?? []))
      return { ...members, drafts: items }
    },

    'drafts.get': async ({ caller, params }) => {
      const row = await visible(params.draft_id, caller)
      return draftDocument(row, await files.ofDrafts(db, [row.id]))
    },

    'drafts.getAttachment': async ({ caller, params }) => {
      const row = await visible(params.draft_id, caller)
      const file = await keptFile(db, row.id, params.attachment_id)
      if (!file) throw notFound('Attachment')
      return { ...attachmentOf(file), ...links.to(row.id, file.id) }
    },

    'drafts.create': ({ body, ...request }) => create(body, request),
    'messages.draftReply': ({ body, params, ...request }) =>
      create({ ...body, in_reply_to: params.message_id }, request),
    'messages.draftReplyAll': ({ body, params, ...request }) =>
      create({ ...body, in_reply_to: params.message_id, reply_all: true }, request),
    'messages.draftForward': ({ body, params, ...request }) =>
      create({ ...body, forward_of: params.message_id }, request),

    'drafts.update': async ({ body, params, ...request }) =>
      documentOf(await writer.update(params.draft_id, body, { ...request, inbox: requireInbox(request.caller) })),

    'drafts.delete': async ({ params, caller }) => {
      await writer.delete(params.draft_id, { caller, inbox: requireInbox(caller) })
      return undefined
    },

    'drafts.send': ({ body, params, ...request }) => {
      const inbox = requireInbox(request.caller)
      return options.sender.send(sendCommand(options, inbox, params.draft_id, body), { ...request, inbox })
    },

    'draftFiles.download': ({ params }) => download(options, params.token),
  }
}

async function download({ db, blobs, links }: DraftRoutesOptions, token: string) {
  const target = links.open(token)
  if (!target) {
    const fix = 'Ask for the attachment again to get a fresh link.'
    throw new ApiError('forbidden', { message: 'The link has expired or was altered', fix })
  }
  const file = await files.linked(db, target)
  if (!file) throw notFound('File')
  const { content_type, filename, size } = storedOf(file)
  try {
    const headers = attachmentHeaders(content_type, filename ?? 'attachment', size)
    return { headers, body: await blobs.get(fileBlob(file.id)) }
  } catch (error) {
    // The draft was deleted after its row had been read.
    if (error instanceof BlobNotFoundError) throw notFound('File')
    throw error
  }
}

async function keptFile(db: Database, draftId: string, id: string): Promise<KeptFile | undefined> {
  return (await files.ofDrafts(db, [draftId])).find((file) => file.id === id.toLowerCase())
}

function documentOf({ row, files: kept }: WrittenDraft): Draft {
  return draftDocument(row, kept)
}

function byChange({ updated_at: time, id }: DraftItemRow) {
  return { time, id }
}
