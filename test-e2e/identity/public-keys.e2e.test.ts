import { inboxWithMail } from '../support/mail.ts'
import { registerKey } from '../support/signed.ts'
import { useSystem } from '../support/suite.ts'

describe('public keys', () => {
  const system = useSystem()
  const register = (body: object, path?: string) =>
    registerKey(system.endpoints.gatewayUrl, system.tenant.key, body, path)

  it('are read, renamed, restricted and deleted by the public client, as their own family', async () => {
    const { client } = system.tenant
    const { keyId } = await register({
      client_id: 'of-the-client',
      permissions: { inbox_read: true, message_reply: true },
    })
    const { apiKeys } = await client.apiKeys.list({ type: 'public_key' })
    const listed = apiKeys.find((key) => key.apiKeyId === keyId)
    expect(listed).toMatchObject({
      type: 'public_key',
      clientId: 'of-the-client',
      publicKey: { jwk: { kty: 'EC', crv: 'P-256' }, fingerprint: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) },
      permissions: { inboxRead: true },
      createdBy: { apiKeyId: expect.any(String) },
      createdAt: expect.any(Date),
    })
    expect((await client.apiKeys.list({ type: 'bearer' })).apiKeys.map((key) => key.type)).not.toContain('public_key')
    expect(
      await client.apiKeys.update('of-the-client', { name: 'Renamed', permissions: { inboxRead: false } }),
    ).toMatchObject({
      apiKeyId: keyId,
      name: 'Renamed',
    })
    expect(await client.apiKeys.get(keyId)).toMatchObject({ type: 'public_key', name: 'Renamed', permissions: {} })
    await client.apiKeys.delete(keyId)
    await expect(client.apiKeys.get(keyId)).rejects.toMatchObject({ statusCode: 404 })
  })

  it('reply with only message_reply, and the mail is sent once', async () => {
    const { inboxId, message } = await inboxWithMail(system)
    const path = `/v0/inboxes/${encodeURIComponent(inboxId)}`
    const replier = await register({ permissions: { message_reply: true } }, `${path}/api-keys`)
    const send = await replier.request('POST', `${path}/messages/send`, {
      to: system.peer.address('nobody'),
      text: 'No',
    })
    expect([send.status, send.body['code']]).toEqual([403, 'missing_permission'])
    const reply = await replier.request('POST', `${path}/messages/${encodeURIComponent(message.messageId)}/reply`, {
      text: 'Signed.',
    })
    expect(reply.status).toBe(200)
    const got = await system.tenant.client.inboxes.messages.get(inboxId, String(reply.body['message_id']))
    expect(got).toMatchObject({ labels: expect.arrayContaining(['sent']), text: expect.stringContaining('Signed.') })
  })
})
