import type { FanoutKit } from '../config.ts'
import { publicEventsConsumer, tenancyConsumer } from './consumers.ts'
import { LogSweeper } from './sweeper.ts'
import { LogTail, type LogTailOptions } from './tail.ts'

/** Keeps the log of events and follows it: topics fill it, and its tail hands each entry to this instance. */
export function keepLog(kit: FanoutKit, options: Pick<LogTailOptions, 'deliver' | 'takeOvers'>): LogTail {
  const { db, kafka, log } = kit
  kit.use(new LogSweeper({ db, log }))
  // The tail runs before the server does, so that a stream misses nothing from its opening on.
  const tail = kit.use(new LogTail({ db, log, ...options }))
  const { notify } = tail
  kit.use(publicEventsConsumer({ kafka, db, notify }))
  kit.use(tenancyConsumer({ kafka, db, notify }))
  return tail
}
