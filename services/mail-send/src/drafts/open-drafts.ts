import type { BlobStore } from '@restante/blobs'
import type { Timers } from '@restante/jobs'
import type { Cursors } from '@restante/service/http'
import type { SendKit } from '../config.ts'
import type { DraftLinks } from '../files/links.ts'
import type { AttachmentLoader } from '../sending/content/attachments.ts'
import type { Sender } from '../sending/sender.ts'
import type { SendTimers } from '../timers/kinds.ts'
import { draftRoutes } from './routes.ts'
import { DraftSender } from './sending/send.ts'
import { DraftWriter } from './writing/write.ts'

interface DraftParts {
  readonly timers: Timers<SendTimers>
  readonly sender: Sender
  readonly attachments: AttachmentLoader
  readonly blobs: BlobStore
  readonly cursors: Cursors
  readonly links: DraftLinks
}

/** Drafts: their operations, and what sends the scheduled ones. */
export function openDrafts(kit: SendKit, parts: DraftParts): ReturnType<typeof draftRoutes> {
  const { db, outbox, log } = kit
  new DraftSender({ db, outbox, log, gateway: kit.peer('gateway'), ...parts }).register()
  const writer = new DraftWriter({ db, outbox, mailIngest: kit.peer('mail-ingest'), ...parts })
  return draftRoutes({ db, outbox, writer, ...parts })
}
