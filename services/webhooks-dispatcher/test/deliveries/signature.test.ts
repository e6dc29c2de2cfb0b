import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook } from 'svix'
import { signRequest } from '../../src/delivery/request.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

describe('signRequest', () => {
  it('produces the signature of the published test vector', () => {
    const delivery = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
    const { headers } = signRequest(delivery, secret, {}, new Date(1_614_265_330_000))
    expect(headers['svix-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(headers['svix-timestamp']).toBe('1614265330')
  })

  it.each([
    ['svix', Webhook, 'svix-'],
    ['Standard Webhooks', StandardWebhook, 'webhook-'],
  ])('is accepted by the verifier of %s, and not after a change', (_name, Verifier, family) => {
    const { headers, body } = signRequest({ id: 'msg_1', body: '{"ä":"é"}' }, secret, {}, new Date())
    const own = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(family)))
    expect(() => new Verifier(secret).verify(body, own)).not.toThrow()
    expect(() => new Verifier(secret).verify(body.replace('é', 'e'), own)).toThrow()
  })

  it('carries the same three values under both names', () => {
    const { headers } = signRequest({ id: 'msg_1', body: '{}' }, secret, {}, new Date())
    for (const name of ['id', 'timestamp', 'signature'])
      expect(headers[`webhook-${name}`]).toBe(headers[`svix-${name}`])
  })

  it('lets no custom header replace its own', () => {
    const { headers } = signRequest(
      { id: 'msg_1', body: '{}' },
      secret,
      { 'svix-id': 'forged', 'x-own': 'kept' },
      new Date(),
    )
    expect(headers).toMatchObject({ 'svix-id': 'msg_1', 'x-own': 'kept' })
  })
})
