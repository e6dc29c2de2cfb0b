import type { FanoutKit } from '../config.ts'
import { publicEventsConsumer, tenancyConsumer } from './consumers.ts'
import { LogSweeper } from './sweeper.ts'
import { LogTail, type LogTailOptions } from './tail.ts'

/**
 * Keeps the log of events and follows it: topics fill it, and its tail hands each entry to this instance.
 * @returns what is to be called when the log has grown.
 */
export function keepLog(kit: FanoutKit, deliver: LogTailOptions['deliver']): () => void {
  const { db, kafka, log } = kit
  kit.use(new LogSweeper({ db, log }))
  // The tail runs before the server does, so that a stream misses nothing from its opening on.
  const { notify } = kit.use(new LogTail({ db, log, deliver }))
  kit.use(publicEventsConsumer({ kafka, db, notify }))
  kit.use(tenancyConsumer({ kafka, db, notify }))
  return notify
}
