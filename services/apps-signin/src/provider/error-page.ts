import type { Exchange } from '@restante/service/http'
import type { PublicError } from '../http/public-error.ts'
import { sendPage } from '../http/response.ts'
import { errorPage } from '../pages/index.ts'

/** Shows a refusal to a person. What it says was written here: nothing of the request is repeated. */
export function sendErrorPage({ request, response }: Exchange, { status, message, headers }: PublicError): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  const page = errorPage({ status, title: titleOf(status), text: message })
  sendPage(response, request.method === 'HEAD' ? { ...page, body: '' } : page)
}

function titleOf(status: number): string {
  if (status === 404) return 'There is no such page'
  if (status === 410 || status === 409) return 'This sign-in is over'
  return status >= 500 ? 'Please try again in a minute' : 'This sign-in cannot go on'
}
