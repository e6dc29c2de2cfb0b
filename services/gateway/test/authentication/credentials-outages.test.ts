import { LIMITS } from '@restante/contracts/vocabulary'
import type { Service } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import { Wire } from '@restante/service/testing'
import { freePort, trueUntil, waitFor } from '@restante/testkit'
import { service as gatewayService } from '../../src/main.ts'
import { type Api, apiOf, startGateway, type TestGateway } from '../gateway.ts'
import { registerKey, type Signer, send, signedHeaders } from '../signatures/signing.ts'

/** A closed port: calls to Redis or Kafka fail from the start. */
const NOWHERE = { REDIS_URL: 'redis://127.0.0.1:9', KAFKA_BROKERS: '127.0.0.1:9' }
type Organization = Awaited<ReturnType<TestGateway['organization']>>

describe('credentials while Redis and Kafka are down', () => {
  let gateway: TestGateway
  let wire: Wire
  let organization: Organization
  const running: { service: Service; url: string }[] = []

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    wire = await Wire.to(String(gateway.env['DATABASE_URL']))
    for (const more of [{}, { DATABASE_URL: wire.through(String(gateway.env['DATABASE_URL'])) }]) {
      const env = { ...gateway.env, ...NOWHERE, ...more, PORT: String(await freePort()) }
      const url = `http://127.0.0.1:${env.PORT}`
      const config = gatewayService.configure(env)
      const service = await gatewayService.create(config, createLogger({ service: 'test', level: 'silent' }))
      await service.start()
      await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { what: 'the process to take requests' })
      running.push({ service, url })
    }
  })
  afterAll(async () => {
    await Promise.all(running.map(({ service }) => service.stop()))
    wire.cut()
    await gateway.stop()
  })

  const urlOf = (process: 0 | 1): string => running[process]?.url ?? ''

  /** A new key, created by one process and cached by a second one. */
  async function keyElsewhere(body: object = {}): Promise<{ id: string; there: Api }> {
    const created = await apiOf(urlOf(0), organization.key).post('/v0/api-keys', body)
    const there = apiOf(urlOf(1), String(created.body['api_key']))
    expect((await there.get('/v0/inboxes')).status).toBe(200)
    return { id: String(created.body['api_key_id']), there }
  }

  /** @returns how long requests are answered with 200 before they are with this status, in milliseconds. */
  const admittedUntil = (status: number, api: Api): Promise<number> =>
    trueUntil(async () => (await api.get('/v0/inboxes')).status !== status, { what: `a ${status}` })

  it('reject a deleted key in every process within a second', async () => {
    const { id, there } = await keyElsewhere()
    expect((await apiOf(urlOf(0), organization.key).delete(`/v0/api-keys/${id}`)).status).toBe(204)
    expect(await admittedUntil(401, there)).toBeLessThan(LIMITS.apiKey.cache)
    expect((await there.get('/v0/inboxes')).body['code']).toBe('unknown_api_key')
  })

  it('apply a reduction of rights in every process within a second', async () => {
    const { id, there } = await keyElsewhere()
    await apiOf(urlOf(0), organization.key).patch(`/v0/api-keys/${id}`, { permissions: { message_read: true } })
    expect(await admittedUntil(403, there)).toBeLessThan(LIMITS.apiKey.cache)
  })

  it('do not let a key pass on rights that it has lost, even while it is cached', async () => {
    const { id, there } = await keyElsewhere({ permissions: { api_key_create: true, inbox_read: true } })
    await apiOf(urlOf(0), organization.key).patch(`/v0/api-keys/${id}`, { permissions: { inbox_read: false } })
    const child = await there.post('/v0/api-keys')
    expect(child.body['permissions']).toEqual({ api_key_create: true })
  })

  it('reject an expired key on time', async () => {
    const expires = Date.now() + 3_000
    const { there } = await keyElsewhere({ expires_at: new Date(expires).toISOString() })
    const begun = Date.now()
    const admittedMs = await admittedUntil(401, there)
    expect(Date.now()).toBeGreaterThanOrEqual(expires)
    expect(begun + admittedMs).toBeLessThan(expires + LIMITS.apiKey.cache)
    expect((await there.get('/v0/inboxes')).body['code']).toBe('api_key_expired')
  })

  it('let a suspended organization read', async () => {
    const other = await gateway.organization()
    await gateway.operator.setStatus(other.id, 'suspended')
    expect((await apiOf(urlOf(1), other.key).get('/v0/inboxes')).status).toBe(200)
  })

  describe('signed requests', () => {
    let signer: Signer
    const me = { method: 'GET', path: '/v0/auth/me' } as const

    const register = () => registerKey(apiOf(urlOf(0), organization.key))
    beforeAll(async () => {
      signer = await register()
    })

    it('are accepted once, by any process', async () => {
      const headers = signedHeaders({ ...signer, ...me })
      expect((await send(urlOf(1), me, headers)).status).toBe(200)
      expect((await send(urlOf(0), me, headers)).status).toBe(401)
      expect((await send(gateway.url, me, headers)).status).toBe(401)
    })

    it('of a deleted key are refused at once', async () => {
      const gone = await register()
      expect((await send(urlOf(1), me, signedHeaders({ ...gone, ...me }))).status).toBe(200)
      await apiOf(urlOf(0), organization.key).delete(`/v0/api-keys/${gone.keyId}`)
      const { status, body } = await send(urlOf(1), me, signedHeaders({ ...gone, ...me }))
      expect([status, body['code']]).toEqual([401, 'unauthorized'])
    })

    it('are answered 503 while PostgreSQL is down too, and are valid afterwards', async () => {
      const headers = signedHeaders({ ...signer, ...me })
      wire.cut()
      const { status, body } = await send(urlOf(1), me, headers)
      expect([status, body['code']]).toEqual([503, 'service_unavailable'])
      await wire.restore()
      await waitFor(async () => (await send(urlOf(1), me, headers)).status === 200, { what: 'the answer' })
      expect((await send(urlOf(1), me, headers)).status).toBe(401)
    })
  })
})
