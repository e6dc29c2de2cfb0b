import { Readable } from 'node:stream'
import type { Database } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { Handlers } from '@restante/service/http'
import { requirePermission } from '@restante/service/identity'
import { holdCalendar } from '../calendars/owner.ts'
import { touchCalendar } from '../store/index.ts'
import { feedText } from './feed-text.ts'
import { deleteFeed, findFeed, putFeed } from './store.ts'
import { hashOf, newToken, tokenIn } from './token.ts'

export interface FeedDeps {
  readonly db: Database
  /** Base URL of the API, as clients use it. */
  readonly publicUrl: string
}

type Feed = Pick<Handlers<'calendar'>, 'calendars.createFeed' | 'calendars.deleteFeed' | 'calendarFeeds.get'>

const HEADERS = {
  'content-type': 'text/calendar; charset=utf-8',
  'content-disposition': 'attachment; filename="calendar.ics"',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
}

/** The secret address of a calendar, at which calendar programs read it. */
export function feedRoutes({ db, publicUrl }: FeedDeps): Feed {
  return {
    'calendars.createFeed': async ({ caller }) => {
      // Whoever has the address reads all events. The gateway demands the other right.
      requirePermission(caller.credential, 'calendar_event_read')
      const token = newToken()
      const createdAt = await db.transaction(async (tx) => {
        const owner = await holdCalendar(tx, caller)
        // The feed needs the row of its calendar.
        await touchCalendar(tx, owner, 0)
        return putFeed(tx, owner, { hash: hashOf(token), takeOvers: caller.take_overs ?? 0 })
      })
      return { url: `${publicUrl}/v0/calendar-feeds/${token}.ics`, created_at: createdAt.toISOString() }
    },

    'calendars.deleteFeed': async ({ caller }) => {
      await db.transaction(async (tx) => {
        const { organizationId, inboxUid } = await holdCalendar(tx, caller)
        if (!(await deleteFeed(tx, organizationId, inboxUid))) throw notFound('Feed')
      })
      return undefined
    },

    'calendarFeeds.get': async ({ params }) => {
      const token = tokenIn(params.token)
      const feed = token === undefined ? undefined : await findFeed(db, hashOf(token))
      if (feed === undefined) throw notFound('Feed')
      return { headers: HEADERS, body: Readable.from(feedText(db, feed)) }
    },
  }
}
