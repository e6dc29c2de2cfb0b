import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import pg from 'pg'
import { confidential, env } from '../../configuration/environment.ts'
import { type EngineTrust, explained } from '../../engines/index.ts'
import { codeOf } from '../../errors/error-codes.ts'
import { messageOf } from '../../errors/message-of.ts'

/** A database and how its server is verified. */
export interface Address {
  readonly url: string
  /** The authorities of `ENGINE_CA_FILE`; without them the public ones. */
  readonly trust?: EngineTrust | undefined
}

/** Parameters of a URL that are about TLS. `pg` would read them by rules that change with its next major version. */
const PARAMETERS = ['sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'ssl', 'uselibpqcompat'] as const
const VERIFIED = new Set(['require', 'verify-ca', 'verify-full'])

/**
 * How a client connects. `sslmode` in the URL decides about TLS: without it, or with `disable`, there is none;
 * `verify-full`, `verify-ca` and `require` all verify the authority and the host; `no-verify` encrypts and verifies
 * nothing. `prefer` and `allow`, which fall back to a connection without TLS, are refused. `sslrootcert` names a file of
 * authorities that replace those of `trust`, `sslcert` and `sslkey` the certificate of the client.
 * @throws Error that begins with the parameter of the URL that is wrong.
 */
export function connectionTo({ url, trust }: Address): { connectionString: string; ssl: false | ConnectionOptions } {
  const parsed = new URL(url)
  const given = Object.fromEntries(PARAMETERS.map((name) => [name, parsed.searchParams.get(name) ?? undefined]))
  const { sslmode, ssl, uselibpqcompat } = given
  if (PARAMETERS.every((name) => given[name] === undefined)) return { connectionString: url, ssl: false }
  for (const name of PARAMETERS) parsed.searchParams.delete(name)
  const connectionString = parsed.href
  if (uselibpqcompat !== undefined) throw new Error('uselibpqcompat is not supported: use sslmode=verify-full')
  if (ssl !== undefined) throw new Error('ssl is not supported: use sslmode=verify-full')
  if (sslmode === 'disable') return { connectionString, ssl: false }
  if (sslmode === 'no-verify') return { connectionString, ssl: { rejectUnauthorized: false } }
  if (sslmode !== undefined && VERIFIED.has(sslmode)) return { connectionString, ssl: verified(given, trust) }
  throw new Error('sslmode must be verify-full, require, verify-ca, no-verify or disable')
}

/** The type of an environment variable with the URL of a database. */
export function databaseUrl() {
  const usable = env.url().superRefine((url, context) => {
    try {
      connectionTo({ url })
    } catch (error) {
      context.addIssue({ code: 'custom', message: `is not usable: ${messageOf(error)}` })
    }
  })
  return confidential(usable)
}

function verified(
  given: Readonly<Partial<Record<(typeof PARAMETERS)[number], string>>>,
  trust: EngineTrust | undefined,
): ConnectionOptions {
  const { sslrootcert: root, sslcert, sslkey } = given
  if (root === undefined && sslcert === undefined && sslkey === undefined)
    return trust === undefined ? {} : { secureContext: trust.secureContext }
  const own = root === undefined || root === 'system' ? undefined : read('sslrootcert', root)
  const ca = own ?? (root === undefined ? trust?.authorities : undefined) ?? getCACertificates('default')
  const secureContext = createSecureContext({
    ca: [ca].flat(),
    ...(sslcert !== undefined && { cert: read('sslcert', sslcert) }),
    ...(sslkey !== undefined && { key: read('sslkey', sslkey) }),
  })
  return { secureContext }
}

function read(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error ? codeOf(error) : undefined
    throw new Error(`${parameter} must name a file that can be read (${code ?? 'unreadable'})`)
  }
}

/** Opens a connection outside of any pool. The caller must end it. @throws EngineAccessError, as a pool does. */
export async function openClient(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config)
  // The owner learns of a lost connection through `end` and failing queries.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw explained('PostgreSQL', usesTls(config), error)
  }
  return client
}

type OnConnect = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void

/** A pool whose errors say what to do when TLS or authentication failed. */
export class EnginePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: OnConnect): void
  override connect(callback?: OnConnect): Promise<pg.PoolClient> | undefined {
    const reasonOf = <E>(error: E) => explained('PostgreSQL', usesTls(this.options), error)
    if (callback === undefined) {
      return super.connect().catch((error: unknown) => {
        throw reasonOf(error)
      })
    }
    super.connect((error, client, done) => callback(error && reasonOf(error), client, done))
    return undefined
  }
}

function usesTls({ ssl }: pg.ClientConfig): boolean {
  return ssl !== undefined && ssl !== false
}
