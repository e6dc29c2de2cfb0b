import type { SendKit } from '../config.ts'
import { feedbackConsumer } from './consumers.ts'
import { Reports } from './reports.ts'
import { feedbackRoutes } from './routes.ts'

/** Applies reports about sent mail. @returns the internal operations about them */
export function openFeedback(kit: SendKit): ReturnType<typeof feedbackRoutes> {
  const { db, kafka, outbox } = kit
  kit.use(feedbackConsumer({ kafka, db, reports: new Reports(outbox) }))
  return feedbackRoutes(db)
}
