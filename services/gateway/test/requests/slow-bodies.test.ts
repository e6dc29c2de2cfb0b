import type { Caller } from '@restante/contracts/access'
import { ServiceClient } from '@restante/service/http'
import { slowRequest, waitFor } from '@restante/testkit'
import { callerOf } from '../fake-upstreams.ts'
import { CALLER_KEY, PEER_KEY, startGateway, type TestGateway } from '../gateway.ts'

describe('rights that are revoked while a request arrives', () => {
  let gateway: TestGateway
  let mailSend: ServiceClient
  beforeAll(async () => {
    gateway = await startGateway()
    gateway.behind.record()
    mailSend = new ServiceClient({ from: 'mail-send', to: 'gateway', url: gateway.url, key: PEER_KEY })
  })
  afterAll(async () => {
    await mailSend.stop()
    await gateway.stop()
  })

  const slowCreate = (key: string, username: string) =>
    slowRequest('POST', `${gateway.url}/v0/inboxes`, { authorization: `Bearer ${key}` }, { username })
  const unknownKey = { status: 401, body: { code: 'unknown_api_key' } }

  it('create no inbox for a deleted key', async () => {
    const { api } = await gateway.organization()
    const { body: made } = await api.post('/v0/api-keys', { permissions: { inbox_create: true } })
    const finish = await slowCreate(String(made['api_key']), 'late')
    expect((await api.delete(`/v0/api-keys/${made['api_key_id']}`)).status).toBe(204)
    expect(await finish()).toMatchObject(unknownKey)
    expect((await api.get('/v0/inboxes')).body).toMatchObject({ count: 0 })
  })

  it('create no inbox for a key from before a take-over', async () => {
    const person = { username: 'early', human_email: 'early@people.test' }
    const { body: first } = await gateway.as().post('/v0/agent/sign-up', person)
    const finish = await slowCreate(String(first['api_key']), 'later')
    expect((await gateway.as().post('/v0/agent/sign-up', person)).status).toBe(200)
    expect(await finish()).toMatchObject(unknownKey)
  })

  it('create an inbox for a key that is still valid', async () => {
    const { key } = await gateway.organization()
    const finish = await slowCreate(key, 'patient')
    expect(await finish()).toMatchObject({ status: 200, body: { inbox_id: 'patient@restante.test' } })
  })

  describe('as confirmed to other services', () => {
    /** An organization, and the caller whom the gateway names for one of its sends. */
    async function sender() {
      const { id, api } = await gateway.organization()
      const { body: inbox } = await api.post('/v0/inboxes', {})
      const { body: made } = await api.post('/v0/api-keys', {})
      const path = `/v0/inboxes/${inbox['inbox_id']}`
      await gateway.as(String(made['api_key'])).post(`${path}/messages/send`, {})
      const seen = await waitFor(() => gateway.behind.seen.at(-1), { what: 'the forwarded send' })
      const caller = await callerOf(seen, 'messages.send', CALLER_KEY)
      return { id, api, path, caller, keyId: String(made['api_key_id']) }
    }
    const confirm = (caller: Caller) => mailSend.call('gateway.confirmCaller', { operation: 'messages.send', caller })
    const refused = (code: string) => ({ status: 'refused', code })

    it('confirms a caller whose rights are valid', async () => {
      const { caller } = await sender()
      expect(await confirm(caller)).toEqual({ status: 'confirmed', caller })
    })

    it('reports a pause and a suspension of a moment ago', async () => {
      const { id, api, path, caller } = await sender()
      await api.patch(path, { status: 'paused' })
      await gateway.operator.setStatus(id, 'suspended')
      expect(await confirm(caller)).toMatchObject({ caller: { sending: 'suspended', inbox: { paused: true } } })
    })

    it('refuses a deleted key, a deleted inbox, and a key from before a take-over', async () => {
      const { api, path, caller, keyId } = await sender()
      expect(await confirm({ ...caller, take_overs: 1 })).toMatchObject(refused('unknown_api_key'))
      await api.delete(path)
      expect(await confirm(caller)).toMatchObject(refused('not_found'))
      await api.delete(`/v0/api-keys/${keyId}`)
      expect(await confirm(caller)).toMatchObject(refused('unknown_api_key'))
    })
  })
})
