import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type EngineTrust, readTrust } from '@restante/service/engines'
import { freePort } from '@restante/testkit'
import { Authority } from './servers/certificates.ts'
import { SecureKafka, SUPER_USER } from './servers/kafka.ts'
import { SecurePostgres } from './servers/postgres.ts'
import { SecureRedis } from './servers/redis.ts'
import { TokenEndpoint } from './servers/token-endpoint.ts'

/** What all of them share. */
export interface Foundation {
  /** The authority of every certificate, for `ENGINE_CA_FILE`. */
  readonly authority: Authority
  /** Another authority, which has signed none of them. */
  readonly stranger: Authority
  readonly trust: EngineTrust
  readonly folder: string
  /** A password as URLs take it. */
  readonly password: string
}

/** PostgreSQL and Redis, which start in a second. */
export class SecureStores {
  readonly postgres: SecurePostgres
  readonly redis: SecureRedis

  private constructor(postgres: SecurePostgres, redis: SecureRedis) {
    this.postgres = postgres
    this.redis = redis
  }

  static async start({ authority, folder, password }: Foundation): Promise<SecureStores> {
    const [postgres, redis] = await Promise.all([authority.issue('postgres-server'), authority.issue('redis-server')])
    return new SecureStores(
      await SecurePostgres.start({ folder, port: await freePort(), certificate: postgres, password }),
      await SecureRedis.start({
        ...{ folder, port: await freePort(), certificate: redis },
        ...{ authority: authority.file, password },
      }),
    )
  }

  async stop(): Promise<void> {
    await Promise.all([this.postgres.stop(), this.redis.stop()])
  }
}

/** Kafka with its token endpoint, which takes some ten seconds to start. */
export class SecureBroker {
  readonly kafka: SecureKafka
  readonly tokens: TokenEndpoint
  /** Passwords by user, for SCRAM and PLAIN; and secrets by client, for OAUTHBEARER. */
  readonly users: Readonly<Record<string, string>>

  private constructor(kafka: SecureKafka, tokens: TokenEndpoint, users: Readonly<Record<string, string>>) {
    this.kafka = kafka
    this.tokens = tokens
    this.users = users
  }

  /** @param names of users, which may do nothing until ACLs allow it. */
  static async start({ authority, folder, trust }: Foundation, names: readonly string[]): Promise<SecureBroker> {
    const users = Object.fromEntries([SUPER_USER, ...names].map((name) => [name, randomBytes(12).toString('hex')]))
    const tokens = await new TokenEndpoint(users).start(await authority.issue('token-endpoint'))
    const certificate = await authority.issue('kafka-server')
    return new SecureBroker(await SecureKafka.start({ folder, certificate, trust, users, tokens }), tokens, users)
  }

  async stop(): Promise<void> {
    await Promise.all([this.kafka.stop(), this.tokens.stop()])
  }
}

/** A folder with the authorities. */
export async function layFoundation(): Promise<Foundation> {
  const folder = await mkdtemp(path.join(tmpdir(), 'restante-engines-'))
  // PostgreSQL runs as a user of its own.
  await chmod(folder, 0o711)
  const [authority, stranger] = await Promise.all([
    Authority.create(folder, 'engines'),
    Authority.create(folder, 'stranger'),
  ])
  return { authority, stranger, folder, trust: readTrust(authority.file), password: randomBytes(12).toString('hex') }
}

/** Deletes what a foundation and its engines have written. */
export async function removeFoundation({ folder }: Foundation): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}
