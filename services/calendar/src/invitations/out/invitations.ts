import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { InternalRequestOf } from '@restante/contracts/internal'
import type { Schedule, Timers } from '@restante/jobs'
import { normalizeAddress } from '@restante/mime'
import { backoff } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import { ApiError, UpstreamError } from '@restante/service/errors'
import { type ServiceClient, UpstreamRejectedError } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { CalendarTimers } from '../../timers/kinds.ts'
import type { PlannedMail } from './change.ts'
import { leavesInbox } from './recipients.ts'
import { type OutgoingMail, outgoing } from './store.ts'
import { invitationsEnded } from './telemetry.ts'

export interface InvitationsOptions {
  readonly db: Database
  readonly timers: Schedule<CalendarTimers>
  readonly mailSend: ServiceClient<'calendar'>
  readonly log: Logger
}

const CONCURRENCY = 8
const ATTEMPT_MS = 30_000
/** A large invitation is composed, signed, stored and accepted meanwhile. */
const CALL_MS = 15_000
const RETRY = { firstMs: 1_000, longestMs: 60_000 }
/** Some days of an installation that cannot send. */
const MOST_ATTEMPTS = 5_000
/** An earlier mail to the same attendee goes first, and its end makes the next one due. */
const TURN = { firstMs: 500, longestMs: 60_000 }
const SUBJECT = 998 - 'Subject: '.length

/** Charges for invitations, and mails them in the background (calendar 14.1). */
export class Invitations {
  readonly #options: InvitationsOptions

  constructor(options: InvitationsOptions) {
    this.#options = options
  }

  /**
   * Counts mails as sends, before the change that they tell of and without any lock. With the same id a recipient counts
   * once. Where no mail leaves, nothing is counted.
   * @param id of the operation; the same when it is repeated.
   * @param recipients addresses, without that of the inbox.
   * @throws ApiError 429 when they exceed a limit: nothing is counted; 409 when the inbox is gone.
   * @throws UpstreamError which is answered with 503, also by a mail-send of an earlier release that cannot count yet.
   */
  async charge(caller: Caller, id: string, recipients: readonly string[]): Promise<void> {
    if (recipients.length === 0 || !leavesInbox(caller)) return
    const result = await this.#count({ id, caller, recipients: [...recipients] })
    if (result.outcome === 'charged') return
    const { message, retry_after: retryAfter, details } = result
    const fix = 'Wait as long as Retry-After says, or change the event without mail; each attendee counts as one send.'
    throw new ApiError('rate_limit_exceeded', { message, retryAfter, details, fix })
  }

  async #count(request: InternalRequestOf<'mail-send.chargeInvitations'>) {
    try {
      return await this.#options.mailSend.call('mail-send.chargeInvitations', request)
    } catch (error) {
      if (!(error instanceof UpstreamRejectedError) || error.status !== 404) throw error
      if (error.isUnknownRoute) throw new UpstreamError('mail-send cannot count invitations yet', { cause: error })
      throw new ApiError('calendar_inbox_required')
    }
  }

  /**
   * Queues mails about one event, in the transaction of the change and under the lock of the event. Whoever was not
   * invited before gets a change as an invitation; later mails answer that one. To be called before the event is deleted:
   * who was invited is forgotten with it.
   * @param takeOvers of the caller.
   */
  async queue(tx: Tx, mails: readonly PlannedMail[], takeOvers: number): Promise<void> {
    const [first] = mails
    if (!first) return
    const recipients = mails.map(({ recipient }) => recipient)
    const invited = await outgoing.invited(tx, first.event_id, recipients)
    const planned = mails
      .filter(({ recipient, only_invited }) => !only_invited || invited.has(recipient))
      .map((mail) => ({ ...mail, ...identified(mail, invited) }))
    const invitations = planned.filter(({ about }) => about === 'invitation')
    await outgoing.invite(tx, first, invitations)
    await outgoing.add(tx, first, planned.map(outgoingOf), takeOvers)
    await this.#options.timers.scheduleAll(
      tx,
      planned.map(({ id }) => ({ kind: 'invitation-out', key: id, payload: { mail_id: id } })),
    )
  }

  /** Registers the handler of the timers. To be called before they start. */
  register(timers: Timers<CalendarTimers>): void {
    const { log } = this.#options
    timers.work(
      'invitation-out',
      {
        concurrency: CONCURRENCY,
        attemptMs: ATTEMPT_MS,
        maxAttempts: MOST_ATTEMPTS,
        // What mail-send cannot read it cannot read later, unless it is of an earlier release.
        retry: (attempt, error) =>
          error instanceof UpstreamRejectedError && !error.isUnknownRoute
            ? null
            : new Date(Date.now() + backoff(attempt, RETRY)),
        givenUp: async (tx, { payload }, error) => {
          const mail = await outgoing.find(tx, payload.mail_id)
          if (mail) await this.#end(tx, mail, false)
          invitationsEnded.inc({ outcome: 'failed' })
          log.error({ err: error, mail: payload.mail_id }, 'invitation mail could not be handed over')
        },
      },
      async ({ timer, run, defer }) => {
        const mail = await outgoing.find(this.#options.db, timer.payload.mail_id)
        if (!mail) return
        if (!mail.is_next) return defer(new Date(Date.now() + backoff(timer.attempt, TURN)))
        const outcome = await this.#send(mail)
        await run((tx) => this.#end(tx, mail, outcome === 'sent'))
        invitationsEnded.inc({ outcome })
      },
    )
  }

  async #end(tx: Tx, mail: OutgoingMail, isSent: boolean): Promise<void> {
    const { timers } = this.#options
    const wasFirst = mail.about === 'invitation' && mail.in_reply_to === null
    if (wasFirst && !isSent) await timers.cancelIdle(tx, 'invitation-out', await outgoing.notInvited(tx, mail))
    const next = await outgoing.delete(tx, mail.id)
    if (next !== undefined) await timers.advance(tx, 'invitation-out', [next])
  }

  /** Twice has one effect. */
  async #send(mail: OutgoingMail): Promise<'sent' | 'refused'> {
    const { id, inbox_uid, recipient, recipient_name, text, method, calendar, in_reply_to } = mail
    const { mailSend, log } = this.#options
    const result = await mailSend.call(
      'mail-send.sendInvitation',
      {
        id,
        inbox_uid,
        to: recipient,
        ...(recipient_name !== null && { to_name: recipient_name }),
        subject: subjectOf(mail),
        text,
        method,
        calendar,
        ...(in_reply_to !== null && { in_reply_to }),
      },
      CALL_MS,
    )
    if (result.outcome === 'refused')
      log.info({ mail: id, event: mail.event_id, inbox: inbox_uid, reason: result.reason }, 'invitation mail refused')
    return result.outcome
  }
}

/** The id of a mail tells its Message-ID, so that later mails can answer it before it has left. */
function identified(
  mail: PlannedMail,
  invited: ReadonlyMap<string, string>,
): Pick<OutgoingMail, 'id' | 'message_id' | 'in_reply_to'> {
  const id = randomUUID()
  const { address, about, recipient } = mail
  const message_id = `<${id}@${address.slice(address.lastIndexOf('@') + 1)}>`
  return { id, message_id, in_reply_to: about === 'answer' ? mail.in_reply_to : (invited.get(recipient) ?? null) }
}

/**
 * Of the title as much as a line of a header holds (RFC 5322 2.1.1). It is told when the mail leaves: whether its recipient
 * has been invited before depends on what became of the mails before it.
 */
function subjectOf({ about, title, in_reply_to }: OutgoingMail): string {
  const start = {
    invitation: in_reply_to === null ? 'Invitation' : 'Updated invitation',
    cancellation: 'Canceled',
    answer: 'Responded',
  }[about]
  const subject = `${start}: ${title}`.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return subject.length > SUBJECT ? `${subject.slice(0, SUBJECT - 1).toWellFormed()}…` : subject
}

function outgoingOf({
  address,
  organization_id,
  ...mail
}: PlannedMail & Pick<OutgoingMail, 'id' | 'message_id'>): OutgoingMail {
  return { ...mail, recipient: normalizeAddress(mail.recipient) }
}
