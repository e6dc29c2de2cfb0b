import { sendJson } from '@restante/service/http'
import { readPageCall } from '../http/page-calls.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import { sendPage } from '../http/response.ts'
import { type FinishOptions, finishEnrolling } from './finish.ts'
import { linkPage } from './link-page.ts'
import { type StartOptions, startEnrollment } from './start.ts'
import { statusOf } from './status.ts'

/** The page of a magic link, and the calls by which a browser gets its key (apps 7.2). */
export function enrollmentRoutes(options: StartOptions & FinishOptions): PublicRoute[] {
  const { db, authBase } = options
  return [
    {
      method: 'GET',
      path: '/connect/{ticket}',
      operation: 'signin.link',
      head: true,
      serve: async ({ response }, { ticket = '' }) => sendPage(response, await linkPage(db, authBase, ticket)),
    },
    {
      method: 'POST',
      path: '/v0/enroll/start',
      operation: 'signin.enrollStart',
      serve: async (exchange) => {
        const body = await readPageCall(exchange, authBase)
        sendJson(exchange.response, 200, await startEnrollment(options, exchange, body))
      },
    },
    {
      method: 'POST',
      path: '/v0/enroll/finish',
      operation: 'signin.enrollFinish',
      serve: async (exchange) => {
        await finishEnrolling(options, exchange, await readPageCall(exchange, authBase))
        exchange.response.writeHead(204).end()
      },
    },
    {
      method: 'POST',
      path: '/v0/enroll/status',
      operation: 'signin.enrollStatus',
      serve: async (exchange) => {
        const { jti } = await readPageCall(exchange, authBase)
        sendJson(exchange.response, 200, { state: await statusOf(db, exchange, jti) })
      },
    },
  ]
}
