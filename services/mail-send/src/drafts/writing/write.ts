import { randomUUID } from 'node:crypto'
import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { CreateDraftBody, SendAttachment, UpdateDraftBody } from '@restante/contracts/operations'
import { isUuid, LIMITS } from '@restante/contracts/vocabulary'
import type { Schedule } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import type { ServiceClient, YieldSlot } from '@restante/service/http'
import { BodyMemoryLimiter } from '@restante/service/http'
import { requirePermission } from '@restante/service/identity'
import { holdInbox } from '@restante/tenancy'
import { files, type KeptFile, type StoredFile } from '../../files/store.ts'
import { readAddresses } from '../../sending/checks/recipients.ts'
import { type AttachmentLoader, isRemote } from '../../sending/content/attachments.ts'
import type { AnsweredMessage } from '../../sending/content/message.ts'
import { tooLarge } from '../../sending/content/rejections.ts'
import { readSource } from '../../sending/content/source.ts'
import { takeOvers } from '../../take-overs/table.ts'
import type { SendTimers } from '../../timers/kinds.ts'
import { changeable } from '../state/changeable.ts'
import { changedEvent, deletedEvent, draftsTopic } from '../state/events.ts'
import { type DraftContent, type DraftRow, drafts } from '../state/store.ts'
import { changedContent, kindOf, newContent, textBytes } from './content.ts'

export interface DraftTools {
  readonly db: Database
  readonly outbox: Outbox
  readonly mailIngest: ServiceClient<'mail-send'>
  readonly attachments: AttachmentLoader
  readonly timers: Schedule<SendTimers>
}

/** A request that writes a draft. */
export interface DraftRequest {
  readonly caller: Caller
  readonly inbox: CallerInbox
  /** The caller as of at most a second ago. @throws ApiError when the request would be refused by now. */
  readonly confirmCaller: () => Promise<Caller>
  /** Aborted when the caller has disconnected. */
  readonly signal: AbortSignal
  readonly yieldSlot: YieldSlot
}

/** A draft and its files. */
export interface WrittenDraft {
  readonly row: DraftRow
  readonly files: readonly KeptFile[]
}

/** Creates, changes and deletes drafts (mail 11.2, 11.3). State, timer and event of each change commit together. */
export class DraftWriter {
  readonly #tools: DraftTools
  /** Memory for fetched files, which may be five times the size of a request. */
  readonly #memory = new BodyMemoryLimiter({ held: 1.5 * LIMITS.send.fetchedBytes })

  constructor(tools: DraftTools) {
    this.#tools = tools
  }

  /**
   * Creates a draft; with a `client_id` that the inbox has in use, finds that draft and changes nothing.
   * @throws ApiError 400, 403, 404, 503
   */
  async create(body: CreateDraftBody, request: DraftRequest): Promise<WrittenDraft> {
    const { caller, inbox } = request
    const { attachments = [] } = body
    this.#requireRights(caller, body, attachments)
    const given = readAddresses(body)
    const existing = await this.#byClientId(inbox, body)
    if (existing) return existing
    const answered = await this.#source(body, request)
    const content = newContent(body, given, answered, inbox.address)
    const stored = await this.#store(attachments, request)
    const draft = newDraft(body, request, {
      ...content,
      references: body.in_reply_to === undefined ? [] : referencesTo(answered),
      size: textBytes(content) + bytesOf(stored),
    })
    await confirm(request, attachments, (current) => this.#requireRights(current, body, attachments))
    const created = await this.#tools.db.transaction((tx) => this.#insert(tx, caller, draft, stored))
    if (created) return created
    // A request at the same moment was first.
    const first = await this.#byClientId(inbox, body)
    if (!first) throw new ApiError('race_condition')
    return first
  }

  /** @throws ApiError 400, 403, 404, 409 while it is being sent, 503 */
  async update(id: string, body: UpdateDraftBody, request: DraftRequest): Promise<WrittenDraft> {
    const { caller, inbox } = request
    const { add_attachments: attachments = [], send_at } = body
    this.#requireRights(caller, { send_at: send_at ?? undefined }, attachments)
    readAddresses(body)
    const { db } = this.#tools
    // Nothing is fetched for a draft that cannot be changed.
    const before = changeable(isUuid(id) ? await drafts.inScope(db, id, scopeOf(caller, inbox)) : undefined)
    requireScheduling(caller, changedContent(before, body))
    const added = await this.#store(attachments, request)
    await confirm(request, attachments, (current) => requireScheduling(current, changedContent(before, body)))
    return db.transaction(async (tx) => {
      const row = await this.#lock(tx, caller, inbox, id)
      await this.#changeFiles(tx, id, body.remove_attachments ?? [], added)
      const kept = await files.ofDrafts(tx, [id])
      requireAffordable(kept)
      const content = changedContent(row, body)
      requireScheduling(caller, content)
      const changed = await drafts.change(tx, id, { ...content, size: textBytes(content) + bytesOf(kept) })
      await this.#reschedule(tx, changed, body.send_at)
      await this.#tools.outbox.add(tx, draftsTopic, changedEvent(changed, changed.size - row.size))
      return { row: changed, files: kept }
    })
  }

  /** @throws ApiError 404; 409 while it is being sent */
  async delete(id: string, { caller, inbox }: Pick<DraftRequest, 'caller' | 'inbox'>): Promise<void> {
    const { db, outbox, timers } = this.#tools
    await db.transaction(async (tx) => {
      const row = await this.#lock(tx, caller, inbox, id)
      await drafts.delete(tx, row)
      await files.releaseAll(tx, [id])
      if (row.send_at !== null) await timers.cancel(tx, 'draft-send', id)
      await outbox.add(tx, draftsTopic, deletedEvent(row, new Date()))
    })
  }

  /** What a draft needs besides the right to write it, because of its content (mail 11.1, drive 9.1). */
  #requireRights(
    { credential }: Caller,
    { in_reply_to, forward_of, send_at }: Pick<CreateDraftBody, 'in_reply_to' | 'forward_of' | 'send_at'>,
    attachments: readonly SendAttachment[],
  ): void {
    if (in_reply_to !== undefined || forward_of !== undefined) requirePermission(credential, 'message_read')
    if (send_at !== undefined) requirePermission(credential, 'draft_send')
    this.#tools.attachments.requireRights(attachments, credential)
  }

  async #byClientId({ uid }: CallerInbox, { client_id }: CreateDraftBody): Promise<WrittenDraft | undefined> {
    const { db } = this.#tools
    const row = client_id === undefined ? undefined : await drafts.byClientId(db, uid, client_id)
    return row && { row, files: await files.ofDrafts(db, [row.id]) }
  }

  async #source(
    { in_reply_to, forward_of }: CreateDraftBody,
    { caller, inbox }: DraftRequest,
  ): Promise<AnsweredMessage | undefined> {
    const id = in_reply_to ?? forward_of
    return id === undefined ? undefined : readSource(this.#tools, caller, inbox, id)
  }

  async #store(given: readonly SendAttachment[], request: DraftRequest): Promise<StoredFile[]> {
    if (given.length === 0) return []
    const { caller, inbox, signal, yieldSlot } = request
    return this.#memory.hold(caller.organization_id, async (count) => {
      const store = () => this.#tools.attachments.store(given, { caller, inbox, signal, count })
      const stored = await (given.some(isRemote) ? yieldSlot(store) : store())
      requireAffordable(stored)
      return stored
    })
  }

  async #insert(
    tx: Tx,
    caller: Caller,
    draft: DraftRow,
    stored: readonly StoredFile[],
  ): Promise<WrittenDraft | undefined> {
    const { outbox, timers } = this.#tools
    await takeOvers.requireCurrent(tx, caller)
    // Deleted since the gateway admitted the request.
    if (!(await holdInbox(tx, draft.inbox_uid))) throw notFound('Inbox')
    const row = await drafts.insert(tx, draft)
    if (!row) return undefined
    await files.keep(tx, row.id, stored)
    if (row.send_at !== null) await timers.schedule(tx, timerOf(row, row.send_at))
    await outbox.add(tx, draftsTopic, changedEvent(row, row.size))
    return { row, files: await files.ofDrafts(tx, [row.id]) }
  }

  async #lock(tx: Tx, caller: Caller, inbox: CallerInbox, id: string): Promise<DraftRow> {
    await takeOvers.requireCurrent(tx, caller)
    if (!(await holdInbox(tx, inbox.uid))) throw notFound('Inbox')
    return changeable(isUuid(id) ? await drafts.lock(tx, id, inbox.uid) : undefined)
  }

  async #changeFiles(tx: Tx, id: string, removed: readonly string[], added: readonly StoredFile[]): Promise<void> {
    const unique = [...new Set(removed.map((one) => one.toLowerCase()))]
    if (!unique.every(isUuid)) throw notFound('Attachment')
    const released = unique.length === 0 ? [] : await files.release(tx, id, unique)
    if (released.length < unique.length) throw notFound('Attachment')
    await files.keep(tx, id, added)
  }

  async #reschedule(tx: Tx, row: DraftRow, sendAt: Date | null | undefined): Promise<void> {
    const { timers } = this.#tools
    if (sendAt === null) await timers.cancel(tx, 'draft-send', row.id)
    else if (sendAt !== undefined) await timers.schedule(tx, timerOf(row, sendAt))
  }
}

/** A scheduled draft is sent unattended, as it was changed last: so its change is the right to send it (mail 11.1). */
function requireScheduling({ credential }: Caller, { send_status }: Pick<DraftContent, 'send_status'>): void {
  if (send_status === 'scheduled') requirePermission(credential, 'draft_send')
}

/** Storing files takes time, in which the caller may have disconnected, to repeat the request, or lost the right to it. */
async function confirm(
  { signal, confirmCaller }: DraftRequest,
  attachments: readonly SendAttachment[],
  check: (current: Caller) => void,
): Promise<void> {
  if (attachments.length > 0) check(await confirmCaller())
  signal.throwIfAborted()
}

function newDraft(
  body: CreateDraftBody,
  { caller, inbox }: DraftRequest,
  content: DraftContent & Pick<DraftRow, 'references'>,
): DraftRow {
  const now = new Date()
  return {
    id: randomUUID(),
    organization_id: caller.organization_id,
    pod_id: inbox.pod_id,
    inbox_uid: inbox.uid,
    inbox_address: inbox.address,
    kind: kindOf(body),
    source_id: body.in_reply_to ?? body.forward_of ?? null,
    reply_all: body.reply_all === true,
    ...content,
    sending_since: null,
    client_id: body.client_id ?? null,
    take_overs: caller.take_overs ?? 0,
    version: 1,
    created_at: now,
    updated_at: now,
  }
}

function referencesTo(answered: AnsweredMessage | undefined): string[] {
  if (!answered) return []
  const { references, messageId } = answered.source
  return [...references.filter((id) => id !== messageId), messageId]
}

function timerOf({ id }: DraftRow, dueAt: Date) {
  return { kind: 'draft-send', key: id, dueAt, payload: { draft_id: id } } as const
}

function scopeOf({ organization_id }: Caller, { uid }: CallerInbox) {
  return { organizationId: organization_id, podId: undefined, inboxUid: uid }
}

function bytesOf(stored: readonly { readonly size: number }[]): number {
  return stored.reduce((sum, { size }) => sum + size, 0)
}

/** Attachments that no message could carry are refused when they are added, not when the draft is sent. */
function requireAffordable(stored: readonly { readonly size: number }[]): void {
  if (stored.length > LIMITS.send.attachments || bytesOf(stored) > LIMITS.send.fetchedBytes) throw tooLarge()
}
