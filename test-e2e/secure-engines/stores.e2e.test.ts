import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Timers } from '@restante/jobs'
import { root } from '@restante/local/settings.ts'
import { OptionalRedis, redisError, redisTls } from '@restante/service/connections'
import { Database, migrate, sql } from '@restante/service/database'
import { type EngineTrust, readTrust } from '@restante/service/engines'
import { serviceCommand } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import { describeWith, waitFor } from '@restante/testkit'
import { Redis } from 'ioredis'
import { type Foundation, layFoundation, removeFoundation, SecureStores } from './secure-engines.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const encrypted = sql<{ ssl: boolean; version: string }>(
  'select ssl, version from pg_stat_ssl where pid = pg_backend_pid()',
)

/** A name of loopback that no certificate holds. */
const OTHER_NAME = '127.1'

describeWith({ programs: ['openssl', 'redis-server'] }, 'PostgreSQL and Redis with TLS and authentication', () => {
  let foundation: Foundation
  let stores: SecureStores
  let stranger: EngineTrust
  beforeAll(async () => {
    foundation = await layFoundation()
    stranger = readTrust(foundation.stranger.file)
    stores = await SecureStores.start(foundation)
  })
  afterAll(async () => {
    await stores?.stop()
    await removeFoundation(foundation)
  })

  /** Runs a statement on the pool and on a connection of its own, and returns what the server knows of them. */
  async function connect(url: string, trust: EngineTrust | undefined) {
    const db = new Database({ url, trust, applicationName: 'test', poolSize: 1 })
    try {
      const [pooled] = await db.query(encrypted)
      const direct = await db.direct()
      const { rows } = await direct.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
      await direct.end()
      return { pooled: pooled?.ssl, direct: rows[0]?.ssl }
    } finally {
      await db.stop()
    }
  }

  /** The error of the same connection. */
  const refused = (url: string, trust?: EngineTrust) =>
    connect(url, trust).then(
      () => '',
      (error: Error) => error.message,
    )
  const withMode = (mode: string) => `${stores.postgres.url}?sslmode=${mode}`

  describe('PostgreSQL', () => {
    it.each(['verify-full', 'verify-ca', 'require'])(
      'is reached with sslmode=%s by the authority of ENGINE_CA_FILE',
      async (mode) => {
        expect(await connect(withMode(mode), foundation.trust)).toEqual({ pooled: true, direct: true })
      },
    )

    it.each(['verify-full', 'verify-ca', 'require'])(
      'is refused with sslmode=%s when another authority has signed its certificate',
      async (mode) => {
        const message = await refused(withMode(mode), stranger)
        expect(message).toMatch(/^PostgreSQL: no trusted authority has signed its certificate .*ENGINE_CA_FILE/)
        expect(await refused(withMode(mode))).toBe(message)
      },
    )

    it.each(['verify-full', 'require'])(
      'is refused with sslmode=%s when its certificate is for another host',
      async (mode) => {
        const url = withMode(mode).replace('localhost', OTHER_NAME)
        expect(await refused(url, foundation.trust)).toMatch(
          /^PostgreSQL: its certificate is for another host; connect by a name that the certificate holds .*localhost/,
        )
      },
    )

    it('is reached with sslmode=no-verify whoever has signed its certificate', async () => {
      expect(await connect(withMode('no-verify'), stranger)).toEqual({ pooled: true, direct: true })
    })

    it('is reached by the authority that sslrootcert names, without ENGINE_CA_FILE', async () => {
      const url = `${withMode('verify-full')}&sslrootcert=${foundation.authority.file}`
      expect(await connect(url, undefined)).toEqual({ pooled: true, direct: true })
      expect(
        await refused(`${withMode('verify-full')}&sslrootcert=${foundation.stranger.file}`, foundation.trust),
      ).toMatch('ENGINE_CA_FILE')
    })

    it('names the parameter that is missing when it requires TLS', async () => {
      expect(await refused(stores.postgres.url, foundation.trust)).toBe(
        'PostgreSQL: it requires TLS; add sslmode=verify-full to DATABASE_URL',
      )
    })

    it('names the URL when the password is wrong, and does not repeat the password', async () => {
      const message = await refused(
        stores.postgres.verified().replace(foundation.password, 'wrong-secret'),
        foundation.trust,
      )
      expect(message).toMatch(/^PostgreSQL: it refused the credentials .*correct the user and password in DATABASE_URL/)
      expect(message).not.toMatch('wrong-secret')
    })

    it('is migrated by the command, with the variables that services have', async () => {
      const db = new Database({ url: stores.postgres.verified(), trust: foundation.trust, applicationName: 'test' })
      await db.query(sql('create database by_command'))
      await db.stop()
      const command = (authority: string) => {
        const [program, ...args] = serviceCommand(path.join(root, 'libs/service/src/database/migrate-cli.ts'))
        const env = { DATABASE_URL: stores.postgres.verified('by_command'), ENGINE_CA_FILE: authority }
        return promisify(execFile)(program, [...args, path.join(root, 'services/webhooks-dispatcher')], {
          env: { PATH: process.env['PATH'], ...env },
        })
      }
      await expect(command(foundation.stranger.file)).rejects.toMatchObject({
        stderr: expect.stringMatching(/no trusted authority .*ENGINE_CA_FILE/),
      })
      await expect(command('/nowhere')).rejects.toMatchObject({
        stderr: expect.stringMatching(/ENGINE_CA_FILE .*ENOENT/),
      })
      expect((await command(foundation.authority.file)).stdout).toMatch(/^applied /)
    })
  })

  /** The first error that a connection reports, in the words of the services. */
  async function refusedByRedis(url: string, trust: EngineTrust | undefined): Promise<string> {
    const client = new Redis(url, {
      lazyConnect: true,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
      ...redisTls({ url, trust }),
    })
    const reported = new Promise<Error>((resolve) => client.on('error', resolve))
    const failed = client
      .connect()
      .then(() => client.ping())
      .then(
        () => new Error('it is reached'),
        (error: Error) => error,
      )
    const error = await Promise.race([reported, failed])
    client.disconnect()
    return redisError(url, error).message
  }

  describe('Redis', () => {
    it('is reached by the connections of counters', async () => {
      const redis = new OptionalRedis({ url: stores.redis.url, trust: foundation.trust, use: 'test', scripts: {}, log })
      redis.connect()
      await waitFor(() => redis.available, { what: 'Redis' })
      expect(await redis.run((client) => client.ping())).toBe('PONG')
      redis.disconnect()
    })

    it('is reached by the queues of timers, on their blocking connections too', async () => {
      const admin = new Database({ url: stores.postgres.verified(), trust: foundation.trust, applicationName: 'test' })
      await admin.query(sql('create database timers'))
      await admin.stop()
      const url = stores.postgres.verified('timers')
      await migrate({ url, trust: foundation.trust, folder: path.join(root, 'libs/jobs') })
      const db = new Database({ url, trust: foundation.trust, applicationName: 'test' })
      const redis = { url: stores.redis.url, trust: foundation.trust, prefix: 'test' }
      const timers = new Timers<{ note: { text: string } }>({ db, redis, log, pollMs: 20 })
      const done: string[] = []
      timers.work('note', { concurrency: 1, attemptMs: 60_000, retry: () => null }, async ({ timer }) => {
        done.push(timer.payload.text)
      })
      await timers.start()
      await db.transaction((tx) =>
        timers.schedule(tx, { kind: 'note', key: 'a', dueAt: new Date(), payload: { text: 'due' } }),
      )
      await waitFor(() => done.includes('due'), { what: 'the timer' })
      await timers.stop()
      await db.stop()
    })

    it('is refused when another authority has signed its certificate', async () => {
      expect(await refusedByRedis(stores.redis.url, stranger)).toMatch(
        /^Redis: no trusted authority has signed its certificate .*ENGINE_CA_FILE/,
      )
    })

    it('is refused when its certificate is for another host', async () => {
      expect(await refusedByRedis(stores.redis.url.replace('localhost', OTHER_NAME), foundation.trust)).toMatch(
        /^Redis: its certificate is for another host/,
      )
    })

    it('names the URL when the password is wrong, and does not repeat the password', async () => {
      const message = await refusedByRedis(
        stores.redis.url.replace(foundation.password, 'wrong-secret'),
        foundation.trust,
      )
      expect(message).toMatch(/^Redis: it refused the credentials .*correct the user and password in its URL/)
      expect(message).not.toMatch('wrong-secret')
    })

    it('names the scheme when it requires TLS', async () => {
      expect(await refusedByRedis(stores.redis.url.replace('rediss:', 'redis:'), foundation.trust)).toMatch(
        /^Redis: .*if it requires TLS there, begin its URL with rediss:\/\//,
      )
    })
  })
})
