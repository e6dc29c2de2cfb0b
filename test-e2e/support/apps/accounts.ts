import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { StoringName } from '@restante/contracts/vocabulary'
import { operate, randomName } from '@restante/testkit'
import pg from 'pg'
import { z } from 'zod'
import type { Endpoints } from '../../stack/endpoints.ts'

const REDIRECT_URI = 'https://app.example/callback'
const registered = z.object({ app_id: z.guid(), slug: z.string() })

/** Registers an app of the catalog that can be connected. @returns its id, which is its client id, too. */
export async function newApp(endpoints: Endpoints): Promise<string> {
  return (await registerListed(endpoints)).app_id
}

/** An app of the catalog at which an inbox has signed in, and where a second sign-in waits in a browser. */
export async function newSignedInApp(endpoints: Endpoints, address: string) {
  const { app_id, slug } = await registerListed(endpoints)
  const [account_id, auth_token] = await Promise.all([
    newAccount(endpoints, app_id, address),
    newWaitingSignIn(endpoints, app_id),
  ])
  return { app_id, slug, account_id, auth_token }
}

async function registerListed({ operator }: Endpoints): Promise<z.infer<typeof registered>> {
  const name = `app-${randomName()}`
  const words = ['--name', name, '--slug', name, '--listed', '--redirect-uris', REDIRECT_URI]
  const made = await operate(
    operator,
    ...['apps', 'create', ...words, '--initiate-login-uri', 'https://app.example/login', '--json'],
  )
  return registered.parse(JSON.parse(made))
}

/** Stores that an inbox has signed in at an app. @returns the id of the account. */
export async function newAccount(endpoints: Endpoints, appId: string, address: string): Promise<string> {
  const [inbox] = await run<{ uid: string; organization_id: string; pod_id: string }>(
    endpoints,
    'gateway',
    'select uid, organization_id, pod_id from inboxes where address = $1 and deleted_at is null',
    [address],
  )
  if (!inbox) throw new Error(`the gateway does not have ${address}`)
  const id = randomUUID()
  await run(
    endpoints,
    'apps-signin',
    `insert into accounts (id, app_id, organization_id, pod_id, inbox_uid, address, first_signed_in_at,
       last_signed_in_at, sign_in_count)
     values ($1, $2, $3, $4, $5, $6, now(), now(), 1)`,
    [id, appId, inbox.organization_id, inbox.pod_id, inbox.uid, address],
  )
  return id
}

/** Stores a sign-in that waits in a browser. @returns the token by which an agent names it. */
export async function newWaitingSignIn(endpoints: Endpoints, appId: string): Promise<string> {
  const token = randomBytes(16).toString('base64url')
  await run(
    endpoints,
    'apps-signin',
    `insert into transactions (jti, auth_token, app_id, client_id, redirect_uri, scopes, code_challenge, cookie_hash, expires_at)
     values ($1, $2, $3, $4, $5, '{openid,email}', $6, $7, now() + interval '10 minutes')`,
    [
      randomBytes(16).toString('base64url'),
      token,
      appId,
      appId,
      REDIRECT_URI,
      createHash('sha256').update('verifier').digest('base64url'),
      randomBytes(32),
    ],
  )
  return token
}

async function run<Row extends pg.QueryResultRow>(
  endpoints: Endpoints,
  service: StoringName,
  statement: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: endpoints.databases[service] })
  await client.connect()
  try {
    return (await client.query<Row>(statement, [...values])).rows
  } finally {
    await client.end()
  }
}
