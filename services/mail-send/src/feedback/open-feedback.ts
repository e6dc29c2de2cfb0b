import type { Config, SendKit } from '../config.ts'
import { unsubscribeLink } from '../delivery/open-delivery.ts'
import { unsubscribeRoutes } from '../unsubscribe/routes.ts'
import { Unsubscribing } from '../unsubscribe/unsubscribing.ts'
import { feedbackConsumer } from './consumers.ts'
import { Reports } from './reports.ts'
import { feedbackRoutes } from './routes.ts'

interface Feedback {
  /** The internal operations about it. */
  readonly routes: ReturnType<typeof feedbackRoutes> & ReturnType<typeof unsubscribeRoutes>
  readonly consumer: ReturnType<typeof feedbackConsumer>
}

/** Applies reports about sent mail, and requests to unsubscribe. */
export function openFeedback(kit: SendKit, config: Config): Feedback {
  const { db, kafka, outbox } = kit
  const unsubscribing = new Unsubscribing({ db, outbox, link: unsubscribeLink(config) })
  const consumer = kit.use(feedbackConsumer({ kafka, db, reports: new Reports(outbox), unsubscribing }))
  return { consumer, routes: { ...feedbackRoutes(db), ...unsubscribeRoutes(unsubscribing) } }
}
