import type { IncomingMessage } from 'node:http'
import type { ClientAuthentication } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { type Client, findClient } from '../apps/find.ts'
import { verifySecret } from '../apps/secrets.ts'
import { type Claimant, countFailure, requireFewFailures } from '../codes/rates.ts'
import type { Parameters } from '../http/forms.ts'
import { OAuthError } from '../http/public-error.ts'

/** Who a request says it comes from, and how. */
interface Presented {
  readonly clientId: string
  readonly method: ClientAuthentication
  readonly secret: string
}

/** An app that has authenticated, and whose failures count as whose. */
export interface Authenticated {
  readonly client: Client
  readonly claimant: Claimant
}

interface AuthenticationOptions {
  readonly db: Queryable
  readonly openClients: boolean
}

/**
 * Authenticates an app by exactly the method that it is registered with (apps 6.5): one that must have a secret cannot do
 * without, and a second way beside the first is none.
 * @param network of the sender.
 * @throws OAuthError 401; RateLimitedError for a network that has failed too often as this app.
 */
export async function authenticateClient(
  { db, openClients }: AuthenticationOptions,
  {
    request,
    form,
    network,
  }: { readonly request: IncomingMessage; readonly form: Parameters; readonly network: string },
): Promise<Authenticated> {
  const presented = presentedBy(request, form)
  const client = presented && (await findClient(db, presented.clientId, { open: openClients }))
  // All unknown apps count as one, so that nobody fills the table with names.
  const claimant = { clientId: client?.clientId ?? '', network }
  await requireFewFailures(db, claimant)
  if (presented !== undefined && client !== undefined && (await isProven(db, client, presented))) {
    return { client, claimant }
  }
  await countFailure(db, claimant)
  throw new OAuthError(401, 'invalid_client', 'The client is not known, or did not authenticate as it is registered', {
    'www-authenticate': 'Basic realm="token endpoint", charset="UTF-8"',
  })
}

async function isProven(db: Queryable, client: Client, { method, secret }: Presented): Promise<boolean> {
  if (method !== client.authentication) return false
  return method === 'none' || (client.appId !== undefined && (await verifySecret(db, client.appId, secret)))
}

/** @returns undefined when a request names no client, two, or one in two ways. */
function presentedBy({ headersDistinct }: IncomingMessage, form: Parameters): Presented | undefined {
  const [header, ...others] = headersDistinct['authorization'] ?? []
  const clientId = form.get('client_id')
  const secret = form.get('client_secret')
  if (header === undefined) {
    if (clientId === undefined) return undefined
    if (secret === undefined) return { clientId, method: 'none', secret: '' }
    return { clientId, method: 'client_secret_post', secret }
  }
  const basic = others.length === 0 && secret === undefined ? readBasic(header) : undefined
  return basic !== undefined && (clientId ?? basic.clientId) === basic.clientId ? basic : undefined
}

const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i

/** RFC 6749 2.3.1: both parts are encoded as in a form. */
function readBasic(header: string): Presented | undefined {
  const [, encoded] = BASIC.exec(header) ?? []
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  const [clientId, secret] = [decode(text.slice(0, colon)), decode(text.slice(colon + 1))]
  if (!clientId || !secret) return undefined
  return { clientId, method: 'client_secret_basic', secret }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
