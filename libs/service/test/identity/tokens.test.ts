import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '@restante/contracts/access'
import { SignJWT } from 'jose'
import { InvalidTokenError, TokenMint, verifyCaller, verifyService } from '../../src/identity/index.ts'

const KEY = 'key of the dispatcher, 32 bytes!!'
const OTHER_KEY = 'key of another service, 32 bytes'
const caller: Caller = {
  organization_id: randomUUID(),
  credential: { id: randomUUID(), type: 'bearer', tier: 'organization', app_connect: false, provisional: false },
  sending: 'ok',
  unverified: false,
}

async function verify(token: string): Promise<Caller> {
  return (await verifyCaller(token, KEY, 'webhooks-dispatcher', 'webhooks.list')).caller
}

/** A token as `TokenMint` makes it, with one defect. */
function forged(change: { claims?: object; subject?: string; expires?: string | undefined; key?: string }) {
  const token = new SignJWT({ caller, ...change.claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('gateway')
    .setAudience('webhooks-dispatcher')
    .setSubject(change.subject ?? 'webhooks.list')
  if (!('expires' in change)) token.setExpirationTime('30s')
  else if (change.expires !== undefined) token.setExpirationTime(change.expires)
  return token.sign(new TextEncoder().encode(change.key ?? KEY))
}

describe('a caller token', () => {
  it('names the caller to the service', async () => {
    expect(await verify(new TokenMint('webhooks-dispatcher', KEY).caller('webhooks.list', caller))).toEqual(caller)
  })

  it.each([
    ['of another service', () => new TokenMint('mail-send', KEY).caller('webhooks.list', caller)],
    ['for another operation', () => new TokenMint('webhooks-dispatcher', KEY).caller('webhooks.create', caller)],
    [
      "signed with another service's key",
      () => new TokenMint('webhooks-dispatcher', OTHER_KEY).caller('webhooks.list', caller),
    ],
    [
      'of a service instead of a caller',
      () => new TokenMint('webhooks-dispatcher', KEY).service('webhooks.list', 'gateway'),
    ],
    ['that has expired', () => forged({ expires: '-10s' })],
    ['that never expires', () => forged({ expires: undefined })],
    ['whose caller is incomplete', () => forged({ claims: { caller: { organization_id: caller.organization_id } } })],
    ['with an altered signature', async () => `${(await forged({})).slice(0, -4)}AAAA`],
    ['without a signature', async () => unsigned()],
    ['that is not a JWT', async () => 'x'],
    ['that is missing', async () => ''],
  ])('is refused %s', async (_what, token) => {
    await expect(verify(await token())).rejects.toThrow(InvalidTokenError)
  })
})

/** `alg: none`, the oldest trick. */
function unsigned(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: 'gateway', aud: 'webhooks-dispatcher', sub: 'webhooks.list', exp: 4_000_000_000, caller }
  return `${part({ alg: 'none' })}.${part(claims)}.`
}

describe('a service token', () => {
  const keys = { gateway: KEY, 'mail-send': OTHER_KEY }
  const verifyPeer = (token: string) => verifyService(token, keys, 'mail-ingest', 'mail-ingest.placeSent')

  it('names the service whose key signed it', async () => {
    const mint = new TokenMint('mail-ingest', OTHER_KEY)
    expect(await verifyPeer(mint.service('mail-ingest.placeSent', 'mail-send'))).toBe('mail-send')
  })

  it('is used again for some seconds', () => {
    const mint = new TokenMint('mail-ingest', OTHER_KEY)
    const issue = () => mint.service('mail-ingest.placeSent', 'mail-send')
    const first = issue()
    const { now } = Date
    const later = (ms: number): string => {
      Date.now = () => now() + ms
      try {
        return issue()
      } finally {
        Date.now = now
      }
    }
    expect(later(4_000)).toBe(first)
    expect(mint.service('mail-ingest.acceptInbound', 'mail-send')).not.toBe(first)
    expect(later(6_000)).not.toBe(first)
    // A clock that was set back does not keep it in use.
    const second = issue()
    expect(later(-3_600_000)).not.toBe(second)
  })

  it('is refused where it is not meant for, or its key is another, after it was verified', async () => {
    const token = new TokenMint('mail-ingest', OTHER_KEY).service('mail-ingest.placeSent', 'mail-send')
    expect(await verifyPeer(token)).toBe('mail-send')
    await expect(verifyService(token, keys, 'mail-ingest', 'mail-ingest.acceptInbound')).rejects.toThrow(
      InvalidTokenError,
    )
    await expect(verifyService(token, keys, 'gateway', 'mail-ingest.placeSent')).rejects.toThrow(InvalidTokenError)
    const rotated = { ...keys, 'mail-send': 'the next key of mail-send, 32 by' }
    await expect(verifyService(token, rotated, 'mail-ingest', 'mail-ingest.placeSent')).rejects.toThrow(
      InvalidTokenError,
    )
  })

  it('is refused once it has expired, although it was verified', async () => {
    const key = new TextEncoder().encode(OTHER_KEY)
    const token = await new SignJWT({ iss: 'mail-send', aud: 'mail-ingest', sub: 'mail-ingest.placeSent' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1s')
      .sign(key)
    expect(await verifyPeer(token)).toBe('mail-send')
    // Clocks may differ by 5 s.
    await pause(7_000)
    await expect(verifyPeer(token)).rejects.toThrow(InvalidTokenError)
  })

  it('is refused when one service signs in the name of another', async () => {
    const mint = new TokenMint('mail-ingest', OTHER_KEY)
    await expect(verifyPeer(mint.service('mail-ingest.placeSent', 'gateway'))).rejects.toThrow(InvalidTokenError)
  })

  it('is refused for another operation, and with an unknown key', async () => {
    const other = new TokenMint('mail-ingest', OTHER_KEY).service('mail-ingest.acceptInbound', 'mail-send')
    await expect(verifyPeer(other)).rejects.toThrow(InvalidTokenError)
    const stranger = new TokenMint('mail-ingest', 'a key of nobody here').service('mail-ingest.placeSent', 'mail-send')
    await expect(verifyPeer(stranger)).rejects.toThrow(InvalidTokenError)
  })

  it.each([
    ['no token', ''],
    ['no JWT', 'a.b.c'],
    ['no signature', unsigned()],
    [
      'a service that has no key here',
      new TokenMint('mail-ingest', KEY).service('mail-ingest.placeSent', 'apps-signin'),
    ],
    ['nobody', `${KEY}.${Buffer.from('{"iss":"constructor"}').toString('base64url')}.`],
  ])('is refused with %s', async (_, token) => {
    await expect(verifyPeer(token)).rejects.toThrow(InvalidTokenError)
  })
})
