import type { StoringName } from '@restante/contracts/vocabulary'
import { PATIENCE_MS, waitFor } from '@restante/testkit'
import type { Reply } from '../../faults/harness/correspondent.ts'
import type { FoundLine } from '../../support/check-command.ts'
import type { OnItsWay, Rehearsal, Repaired } from './rehearsal.ts'
import type { Scene, Waiting } from './scene.ts'

/** Mails that come in, and replies that are sent, before the backup, after it, and after traffic is let in again. */
const MAILS = 40
const REPLIES = 8
/** Mails that come in within a second while the backup is taken. */
const BURST = 100

/** What one case does and expects beside what all do. */
export interface Steps {
  /** Before the backup. */
  prepare?(scene: Scene): Promise<void>
  /** Between the backup and the loss. */
  change?(scene: Scene): Promise<void>
  /** While no service runs. */
  lose?(): Promise<void>
  /** After the restore, before the repair. */
  restored?(scene: Scene): Promise<void>
  /** What the repair may leave. */
  accepts?(left: FoundLine): boolean
  /** After the repair, before traffic is let in. */
  repaired?(scene: Scene): Promise<void>
}

/** What happened in which part of a rehearsal. */
export interface Parts<T> {
  /** When the backup began, this was in every store. */
  readonly before: readonly T[]
  /** After the backup, until the services stopped. What happened during the backup is in neither part. */
  readonly since: readonly T[]
  readonly after: readonly T[]
}

/** What a rehearsal came to. */
export interface Course {
  readonly scene: Scene
  readonly mails: Parts<string>
  readonly replies: Parts<Reply>
  /** Messages whose events had all reached the webhook when the backup began. */
  readonly settled: ReadonlySet<string>
  /** Deferred when the backup was taken: delivered before the services stopped, and only after the restore. */
  readonly later: Waiting
  readonly open: Waiting
  /** Accepted since the backup, and deferred when the services stopped. */
  readonly fresh: Waiting
  /** Subjects of mail between inboxes here. */
  readonly inside: { readonly before: string; readonly since: string }
  /** Accepted outside before the services stopped, and not published as such. */
  readonly unpublished: ReadonlySet<string>
  readonly onItsWay: OnItsWay
  readonly repaired: Repaired
}

/** Backs up, loses and restores the databases of these services with mail flowing, until everything has arrived. */
export async function rehearse(
  rehearsal: Rehearsal,
  name: string,
  services: readonly StoringName[],
  steps: Steps = {},
): Promise<Course> {
  const scene = await rehearsal.openScene()
  scene.startMail()
  scene.startAgent()
  const [later, open] = [await scene.sendWaiting(), await scene.sendWaiting()]
  const insideBefore = await scene.sendInside()
  await steps.prepare?.(scene)
  await scene.flow(MAILS, REPLIES)

  const atBegin = marksOf(scene)
  const settled = new Set(scene.webhooks.events('message.delivered').keys())
  // Enough that some of it is in the queue of mail-ingest when that is dumped.
  await Promise.all([rehearsal.backUp(name), scene.source.send(BURST, BURST)])
  const atEnd = marksOf(scene)

  scene.admit(later)
  await untilDelivered(scene, later)
  const fresh = await scene.sendWaiting()
  const insideSince = await scene.sendInside()
  await steps.change?.(scene)
  await scene.flow(MAILS, REPLIES)
  await scene.stopAgent()
  await rehearsal.stopServices()
  const atStop = marksOf(scene)
  const published = await rehearsal.publishedAsDelivered()
  const unpublished = new Set(scene.arrived().filter((id) => !published.has(id)))

  await steps.lose?.()
  const onItsWay = await rehearsal.restore(services)
  await steps.restored?.(scene)
  const repaired = await rehearsal.repair(services, steps.accepts?.bind(steps))
  await steps.repaired?.(scene)
  await rehearsal.reopen(services)

  scene.admit(open)
  scene.admit(fresh)
  scene.startAgent()
  await scene.flow(MAILS, REPLIES)
  await scene.stop()
  const parts = <T>(all: readonly T[], of: (marks: Marks) => number): Parts<T> => ({
    before: all.slice(0, of(atBegin)),
    since: all.slice(of(atEnd), of(atStop)),
    after: all.slice(of(atStop)),
  })
  const course: Course = {
    scene,
    mails: parts(scene.accepted, ({ mails }) => mails),
    replies: parts(scene.replies, ({ replies }) => replies),
    settled,
    later,
    open,
    fresh,
    inside: { before: insideBefore, since: insideSince },
    unpublished,
    onItsWay,
    repaired,
  }
  await settle(course)
  return course
}

interface Marks {
  readonly mails: number
  readonly replies: number
}

function marksOf({ accepted, replies }: Scene): Marks {
  return { mails: accepted.length, replies: replies.length }
}

async function untilDelivered(scene: Scene, { messageId }: Waiting, inboxId = scene.inboxes[0] ?? ''): Promise<void> {
  const isDelivered = async () => (await scene.labelsOf(inboxId, messageId))?.includes('delivered')
  await waitFor(isDelivered, { what: `${messageId} to be delivered`, timeout: 2 * PATIENCE_MS, interval: 200 })
}

/** Waits for what came after the restore, and for what was due then. */
async function settle({ scene, mails, replies, open }: Course): Promise<void> {
  const events = () => scene.webhooks.events('message.received')
  await waitFor(() => mails.after.every((id) => events().has(id)), {
    what: 'the mails since the restore at the webhook',
    timeout: 2 * PATIENCE_MS,
    interval: 200,
  })
  for (const { inboxId, messageId } of replies.after) await untilDelivered(scene, { messageId, to: '' }, inboxId)
  await untilDelivered(scene, open)
  const told = () => scene.webhooks.events('message.delivered')
  await waitFor(() => replies.after.every(({ messageId }) => told().has(messageId)), {
    what: 'the deliveries since the restore at the webhook',
    timeout: 2 * PATIENCE_MS,
    interval: 200,
  })
}
