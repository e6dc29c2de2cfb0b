import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { SendDraftBody } from '@restante/contracts/operations'
import { isUuid, LIMITS } from '@restante/contracts/vocabulary'
import type { AttemptContext, Schedule, Timers } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import { Batcher, backoff } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import { ApiError, isInfrastructureError, notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import type { Logger } from '@restante/service/telemetry'
import { files, storedOf } from '../../files/store.ts'
import { UnknownOutcomeError } from '../../sending/acceptance/idempotency.ts'
import { inboxAsCaller } from '../../sending/checks/sending-inbox.ts'
import type { MessageCommand, OpenedDraft, SendCommand, Sender } from '../../sending/sender.ts'
import type { SendTimers } from '../../timers/kinds.ts'
import { changeable } from '../state/changeable.ts'
import { changedEvent, deletedEvent, draftsTopic } from '../state/events.ts'
import { type DraftRow, drafts } from '../state/store.ts'
import { changedLabels, customLabels } from '../writing/content.ts'
import { draftsEnded } from './telemetry.ts'

export interface DraftSenderOptions {
  readonly db: Database
  readonly outbox: Outbox
  readonly sender: Sender
  readonly gateway: ServiceClient<'mail-send'>
  readonly timers: Timers<SendTimers>
  readonly log: Logger
}

interface SendOptions extends Pick<DraftSenderOptions, 'db' | 'outbox'> {
  /** What is to be cancelled with the draft; the attempt of a timer ends that timer itself. */
  readonly timers?: Schedule<SendTimers>
}

/** The command that sends a draft; it is read once its `Idempotency-Key` is known to be new (mail 9). */
export function sendCommand(options: SendOptions, inbox: CallerInbox, id: string, body: SendDraftBody): SendCommand {
  const open = async (): Promise<OpenedDraft> => {
    const row = isUuid(id) ? await drafts.byId(options.db, id) : undefined
    return opened(options, changeable(row?.inbox_uid === inbox.uid ? row : undefined), body)
  }
  return { kind: 'draft', draftId: id, body, open }
}

async function opened({ db, outbox, timers }: SendOptions, row: DraftRow, body: SendDraftBody): Promise<OpenedDraft> {
  const kept = await files.ofDrafts(db, [row.id])
  return {
    message: messageOf(row, changedLabels(customLabels(row.labels), body)),
    files: kept.map(storedOf),
    takeOvers: row.take_overs,
    end: async (tx, sent) => {
      if (!(await drafts.delete(tx, row))) throw await endedOtherwise(tx, row)
      await files.releaseAll(tx, [row.id])
      if (row.send_at !== null) await timers?.cancel(tx, 'draft-send', row.id)
      await outbox.add(tx, draftsTopic, deletedEvent(row, new Date(), sent.message_id))
    },
  }
}

/** The draft was sent, deleted or changed while its message was composed. */
async function endedOtherwise(tx: Tx, { id }: DraftRow): Promise<ApiError> {
  if (!(await drafts.byId(tx, id))) return notFound('Draft')
  return new ApiError('conflict', {
    message: 'The draft was changed while it was being sent',
    fix: 'Send it again: nothing was sent.',
  })
}

/** What the draft shows: a subject that was cleared is not derived again from the message that it answers. */
function messageOf(row: DraftRow, labels: string[]): MessageCommand {
  const { to, cc, bcc, reply_to, subject, text, html, kind, source_id } = row
  const body = {
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    reply_to: [...reply_to],
    labels,
    subject: subject ?? '',
    ...(text !== null && { text }),
    ...(html !== null && { html }),
  }
  if (source_id === null) return { kind: 'send', body }
  if (kind === 'forward') return { kind, messageId: source_id, body }
  return { kind: 'reply', messageId: source_id, body, isAddressed: true }
}

const CONCURRENCY = 32
/** Most drafts that are claimed in one transaction. */
const TOGETHER = 100
/** How old the answer about the owner of a draft may be when its message is accepted. */
const CONFIRMED_MS = 1_000
const ATTEMPT_MS = 60_000
const RETRY = { firstMs: 1_000, longestMs: 30_000 }

/**
 * Sends scheduled drafts when they are due (mail 11.4). What accepts the message deletes the draft in the same
 * transaction, so that it is sent once whatever is repeated; the status only tells callers, and keeps them out meanwhile.
 */
export class DraftSender {
  readonly #options: DraftSenderOptions
  readonly #claims: Batcher<string, DraftRow | undefined>

  constructor(options: DraftSenderOptions) {
    this.#options = options
    this.#claims = new Batcher({ maxItems: TOGETHER, work: (ids) => this.#claimAll(ids) })
  }

  /** Registers the handler of the timers. To be called before they start. */
  register(): void {
    this.#options.timers.work(
      'draft-send',
      {
        concurrency: CONCURRENCY,
        attemptMs: ATTEMPT_MS,
        // A draft that has been sending for too long fails, so this ends.
        retry: (attempt) => new Date(Date.now() + backoff(attempt, RETRY)),
      },
      (context) => this.#attempt(context),
    )
  }

  async #attempt(context: AttemptContext<SendTimers['draft-send']>): Promise<void> {
    const row = await this.#claim(context.timer.payload.draft_id)
    if (!row) return
    try {
      // Also where the attempts so far died with their process.
      if (isOverdue(row)) throw new ApiError('service_unavailable')
      await this.#send(row, context.signal)
    } catch (error) {
      if (context.signal.aborted || (isPassing(error) && !isOverdue(row))) throw error
      await this.#fail(context, row, error)
    }
  }

  async #send(row: DraftRow, signal: AbortSignal): Promise<void> {
    const { db, outbox, sender, log } = this.#options
    const askedAt = performance.now()
    const caller = await this.#caller(row)
    if (!caller) return
    const confirm = async () =>
      performance.now() - askedAt <= CONFIRMED_MS ? caller : ((await this.#caller(row)) ?? gone())
    const open = () => opened({ db, outbox }, row, {})
    await sender.send(
      { kind: 'draft', draftId: row.id, body: {}, open },
      {
        caller,
        inbox: requireInbox(caller),
        idempotencyKey: undefined,
        log,
        confirmCaller: confirm,
        signal,
        yieldSlot: (slow) => slow(),
      },
    )
    draftsEnded.inc({ outcome: 'sent' })
  }

  /**
   * The inbox itself as the caller.
   * @returns undefined for a draft that ends with its inbox, or with a take-over that was confirmed (identity 5.1).
   */
  async #caller({ inbox_uid, take_overs }: DraftRow): Promise<Caller | undefined> {
    const { sender } = await this.#options.gateway.call('gateway.getSendingInbox', { inbox_uid })
    if (!sender || (take_overs < sender.take_overs && !sender.unverified)) return undefined
    return inboxAsCaller(sender)
  }

  /**
   * Marks a draft that is due as being sent. @returns undefined when there is nothing to send: it is gone, or its time was
   * changed, for which it has another timer.
   */
  async #claim(id: string): Promise<DraftRow | undefined> {
    const claimed = await this.#claims.add(id)
    if (claimed) return claimed
    // An earlier attempt has claimed it.
    const row = await drafts.byId(this.#options.db, id)
    return row?.send_status === 'sending' ? row : undefined
  }

  async #claimAll(ids: readonly string[]): Promise<(DraftRow | undefined)[]> {
    const { db, outbox } = this.#options
    const rows = await db.transaction(async (tx) => {
      const claimed = await drafts.claim(tx, ids)
      await outbox.addAll(
        tx,
        draftsTopic,
        claimed.map((row) => changedEvent(row, 0)),
      )
      return claimed
    })
    return ids.map((id) => rows.find((row) => row.id === id))
  }

  async #fail(context: AttemptContext<SendTimers['draft-send']>, row: DraftRow, error: unknown): Promise<void> {
    const { log, outbox } = this.#options
    const failed = await context.run(async (tx) => {
      const changed = await drafts.fail(tx, row)
      if (changed) await outbox.add(tx, draftsTopic, changedEvent(changed, 0))
      return changed
    })
    if (!failed) return
    draftsEnded.inc({ outcome: 'failed' })
    const facts = { draft: row.id, organization: row.organization_id, inbox: row.inbox_uid }
    // The message of a refusal names recipients.
    if (error instanceof ApiError) log.info({ ...facts, code: error.code }, 'scheduled draft failed')
    else log.error({ ...facts, err: error }, 'scheduled draft failed')
  }
}

/** Trouble of the installation, after which the draft may be sent; a refusal, or a defect, fails it for good. */
function isPassing(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return true
  return isInfrastructureError(error) || (error instanceof ApiError && error.status >= 500)
}

function isOverdue({ sending_since }: DraftRow): boolean {
  return sending_since !== null && Date.now() - sending_since.getTime() > LIMITS.draft.sendingFor
}

function gone(): never {
  throw notFound('Draft')
}
