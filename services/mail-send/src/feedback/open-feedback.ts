import type { Config, SendKit } from '../config.ts'
import { unsubscribeLink } from '../delivery/open-delivery.ts'
import { unsubscribeRoutes } from '../unsubscribe/routes.ts'
import { Unsubscribing } from '../unsubscribe/unsubscribing.ts'
import { feedbackConsumer } from './consumers.ts'
import { Reports } from './reports.ts'
import { feedbackRoutes } from './routes.ts'

type FeedbackHandlers = ReturnType<typeof feedbackRoutes> & ReturnType<typeof unsubscribeRoutes>

/** Applies reports about sent mail, and requests to unsubscribe. @returns the internal operations about them */
export function openFeedback(kit: SendKit, config: Config): FeedbackHandlers {
  const { db, kafka, outbox } = kit
  const unsubscribing = new Unsubscribing({ db, outbox, link: unsubscribeLink(config) })
  kit.use(feedbackConsumer({ kafka, db, reports: new Reports(outbox), unsubscribing }))
  return { ...feedbackRoutes(db), ...unsubscribeRoutes(unsubscribing) }
}
