import type { Timers } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import { ParserCrashedError, ParserTimeoutError } from '@restante/mime/worker'
import type { Database, Tx } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { holdScopes } from '@restante/tenancy'
import { hasCalendarAccess } from '../../access/store.ts'
import { tellApplied } from '../../events/index.ts'
import type { CalendarReader, ReadFile } from '../../icalendar/read/index.ts'
import { timezoneOf } from '../../store/index.ts'
import { takeOvers } from '../../take-overs/table.ts'
import type { CalendarTimers } from '../../timers/kinds.ts'
import { applyCancel } from './cancel.ts'
import { isKeptOut } from './consumers.ts'
import { isOfFile, nextAttempt } from './failures.ts'
import { lockUid } from './known.ts'
import type { Applied, Arrival, ReceivedMail } from './mail.ts'
import { applyReply } from './reply.ts'
import { applyRequest } from './request.ts'
import { invitationsReceived } from './telemetry.ts'

export interface ReceivedInvitationsOptions {
  readonly db: Database
  readonly timers: Timers<CalendarTimers>
  readonly outbox: Outbox
  readonly mostEvents: number
  readonly mailIngest: ServiceClient<'calendar'>
  readonly gateway: ServiceClient<'calendar'>
  readonly reader: CalendarReader
  readonly log: Logger
}

const CONCURRENCY = 4
const ATTEMPT_MS = 60_000
/** A file of 1 MB is fetched meanwhile. */
const CALL_MS = 10_000
/** Some days of an installation that is down. */
const MOST_ATTEMPTS = 5_000

const APPLY = { REQUEST: applyRequest, CANCEL: applyCancel, REPLY: applyReply } as const

type Sender = Awaited<ReturnType<typeof senderOf>>

/** Registers the handler that applies calendar files of received mail (calendar 15, 16), before the timers start. */
export function applyInvitations(options: ReceivedInvitationsOptions): void {
  const { timers, log } = options
  timers.work(
    'invitation-in',
    {
      concurrency: CONCURRENCY,
      attemptMs: ATTEMPT_MS,
      maxAttempts: MOST_ATTEMPTS,
      retry: nextAttempt,
      givenUp: async (_, { payload }, error) =>
        log.error({ err: error, inbox: payload.inbox_uid }, 'calendar file of a mail could not be applied'),
    },
    async ({ timer: { payload }, run }) => {
      const { inbox_uid, message_id } = payload
      const { mail } = await options.mailIngest.call('mail-ingest.getCalendarFiles', { inbox_uid, message_id }, CALL_MS)
      const content = mail && acceptable(mail)
      if (mail === undefined || content === undefined) return
      const sender = await senderOf(options, inbox_uid)
      if (sender === undefined || sender.inbox.paused || sender.sending === 'suspended') return
      const file = await readFile(options, content, inbox_uid)
      if (file === undefined) return
      const given = { sender, mail, messageId: message_id }
      const applied = await unlessInvalid(() => run((tx) => apply(tx, options, file, given)))
      const outcome = 'ignored' in applied ? 'ignored' : 'applied'
      invitationsReceived.inc({ outcome })
      log.info({ inbox: inbox_uid, method: file.method, ...applied }, `calendar file of a mail ${outcome}`)
    },
  )
}

async function senderOf({ gateway }: ReceivedInvitationsOptions, inbox_uid: string) {
  return (await gateway.call('gateway.getSendingInbox', { inbox_uid })).sender
}

/** The only calendar file of a mail whose author is known for sure, and that was not applied before. */
function acceptable({
  files,
  from,
  authenticated,
  labels,
  too_large,
  applied = false,
}: ReceivedMail): Buffer | undefined {
  const [file, ...others] = files
  if (applied || !authenticated || from === undefined || isKeptOut(labels)) return undefined
  return file === undefined || others.length > 0 || too_large ? undefined : Buffer.from(file.content, 'base64')
}

async function readFile(
  { reader, log }: ReceivedInvitationsOptions,
  content: Buffer,
  inbox: string,
): Promise<ReadFile | undefined> {
  try {
    const result = await reader.read(content)
    if ('file' in result) return result.file
    invitationsReceived.inc({ outcome: 'unreadable' })
    log.info({ inbox, reason: result.unreadable }, 'calendar file of a mail not read')
  } catch (error) {
    if (!(error instanceof ParserCrashedError || error instanceof ParserTimeoutError)) throw error
    invitationsReceived.inc({ outcome: 'costly' })
    log.warn({ err: error, inbox }, 'calendar file of a mail given up')
  }
  return undefined
}

/** What no event can be is not imported. */
async function unlessInvalid(work: () => Promise<Applied>): Promise<Applied> {
  try {
    return await work()
  } catch (error) {
    if (isOfFile(error)) return { ignored: 'invalid' }
    throw error
  }
}

interface Given {
  readonly sender: NonNullable<Sender>
  readonly mail: ReceivedMail
  readonly messageId: string
}

async function apply(
  tx: Tx,
  { outbox, timers, mostEvents }: ReceivedInvitationsOptions,
  file: ReadFile,
  { sender, mail, messageId }: Given,
): Promise<Applied> {
  const { organization_id: organizationId, take_overs, inbox } = sender
  const { uid: inboxUid, pod_id: podId, address, created_at } = inbox
  if (!(await holdScopes(tx, [inboxUid, podId, organizationId]))) return { ignored: 'unknown_event' }
  await takeOvers.requireCurrent(tx, { organization_id: organizationId, take_overs })
  if (!(await hasCalendarAccess(tx, organizationId))) return { ignored: 'invalid' }
  const createdAt = created_at === undefined ? undefined : new Date(created_at)
  const owner = { organizationId, podId, inboxUid, address, createdAt }
  const arrival: Arrival = {
    owner,
    takeOvers: take_overs,
    messageId,
    from: mail.from ?? '',
    receivedAt: new Date(mail.received_at),
    at: new Date(),
    context: { address, floating: await timezoneOf(tx, owner) },
    deps: { outbox, timers, mostEvents },
  }
  await lockUid(tx, arrival, file.uid)
  const applied = await APPLY[file.method](tx, file, arrival)
  if ('calendarEventId' in applied) {
    const event = { id: applied.calendarEventId, organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid }
    await tellApplied(tx, outbox, { event, at: arrival.at }, { messageId, calendarEventId: applied.calendarEventId })
  }
  return applied
}
