import { USERNAME } from '@restante/contracts/vocabulary'
import { Secrets } from '../../src/credentials/secrets.ts'
import { bearerToken } from '../../src/edge/authentication/authorization.ts'
import { sendingRight } from '../../src/identity/identity.ts'
import { mergeMetadata, sameMetadata } from '../../src/inboxes/metadata.ts'
import { generateUsername, isReserved, reservedUsernames } from '../../src/inboxes/names/usernames.ts'
import { ADJECTIVES, NOUNS } from '../../src/inboxes/names/words.ts'
import { baseAddress } from '../../src/inboxes/recipients.ts'

describe('generated usernames', () => {
  it('are an adjective, a noun and a number that grows with each collision', () => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const name = generateUsername(attempt)
      expect(name).toMatch(USERNAME)
      expect(name).toMatch(new RegExp(`^[a-z]+\\d{${3 + attempt}}$`))
    }
  })

  it('draw from lists without repetition, of plain words', () => {
    for (const list of [ADJECTIVES, NOUNS]) {
      expect(new Set(list).size).toBe(list.length)
      expect(list.every((word) => /^[a-z]{2,10}$/.test(word))).toBe(true)
      expect(list.length).toBeGreaterThan(150)
    }
  })

  it('leave the names of RFC 2142 and of the operator alone', () => {
    const reserved = reservedUsernames({ more: ['Front-Desk'], freed: ['it', 'no.reply'], systemSender: 'no-reply' })
    for (const name of ['postmaster', 'frontdesk', 'front.desk', 'f_r_o_n_t-desk', 'noreply', 'no_reply']) {
      expect([name, isReserved(name, reserved)]).toEqual([name, true])
    }
    for (const name of ['support', 'sales', 'help', 'it', 'i-t', 'administrators']) {
      expect([name, isReserved(name, reserved)]).toEqual([name, false])
    }
  })
})

describe('metadata', () => {
  it.each([
    [{ a: 1 }, undefined, { a: 1 }],
    [{ a: 1 }, null, {}],
    [{ a: 1 }, { b: 'x' }, { a: 1, b: 'x' }],
    [{ a: 1, b: 2 }, { a: null, c: null }, { b: 2 }],
    [{ a: 1 }, { a: true }, { a: true }],
  ])('%j and %j make %j', (current, change, expected) => {
    expect(mergeMetadata(current, change)).toEqual(expected)
  })

  it('counts keys on the merged result', () => {
    const full = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`k${index}`, index]))
    expect(mergeMetadata(full, { more: 1 })).toBeUndefined()
    expect(mergeMetadata(full, { more: 1, k0: null })).toBeDefined()
  })

  it('distinguishes a real change from none', () => {
    expect(sameMetadata({ a: 1, b: 'x' }, { b: 'x', a: 1 })).toBe(true)
    expect(sameMetadata({ a: 1 }, { a: '1' })).toBe(false)
    expect(sameMetadata({ a: 1 }, {})).toBe(false)
  })
})

describe('recipient addresses', () => {
  it.each([
    ['desk@a.test', 'desk@a.test'],
    ['Desk+Orders@A.test', 'desk@a.test'],
    ['desk+a+b@a.test', 'desk@a.test'],
    ['+only@a.test', '@a.test'],
    ['no-domain+x', 'no-domain+x'],
    ['desk@sub+domain.test', 'desk@sub+domain.test'],
  ])('%s names %s', (given, expected) => {
    expect(baseAddress(given)).toBe(expected)
  })
})

describe('the Authorization header', () => {
  it('gives the key, of any generation', () => {
    expect(bearerToken('Bearer am_1')).toBe('am_1')
    expect(bearerToken('Bearer a.b')).toBe('a.b')
  })

  it.each([
    [undefined, 'missing_authorization'],
    ['', 'missing_authorization'],
    ['Bearer', 'missing_authorization'],
    ['Bearer  am_1', 'missing_authorization'],
    ['BEARER am_1', 'missing_authorization'],
    ['Bearer a.b.c', 'invalid_token_type'],
  ])('%j is %s', (header, code) => {
    expect(() => bearerToken(header)).toThrow(expect.objectContaining({ code }))
  })
})

describe('what an organization may send', () => {
  const row = { organization_status: 'active', authentication_type: null, human_email: null }
  it.each([
    [row, 'ok'],
    [{ ...row, organization_status: 'suspended' }, 'suspended'],
    [{ ...row, authentication_type: 'agent_verified', human_email: 'a@b.test' }, 'ok'],
    [{ ...row, authentication_type: 'agent_unverified', human_email: 'a@b.test' }, 'only:a@b.test'],
    [{ ...row, authentication_type: 'agent_unverified' }, 'none'],
    [{ ...row, organization_status: 'suspended', authentication_type: 'agent_unverified' }, 'suspended'],
  ])('%j: %s', (given, expected) => {
    expect(sendingRight(given)).toBe(expected)
  })
})

describe('secrets', () => {
  const secrets = new Secrets({ installationSecret: 'one installation secret', region: 'eu' })
  const others = new Secrets({ installationSecret: 'another installation secret', region: 'eu' })

  it('create keys with the prefix of the region that cannot be derived from their hash', () => {
    const { secret, prefix, hash } = secrets.mint()
    expect(secret).toMatch(/^am_eu_[0-9a-f]{64}$/)
    expect(prefix).toBe(secret.slice(0, 14))
    expect(hash).toEqual(secrets.hash(secret))
    expect(hash).not.toEqual(others.hash(secret))
  })

  it('derive the same six digits for the same code, and others elsewhere', () => {
    const id = '0b5f7b43-7a0a-4d0c-9c60-3f36a3a7c1a1'
    expect(secrets.code(id)).toMatch(/^\d{6}$/)
    expect(secrets.code(id)).toBe(secrets.code(id))
    expect(secrets.code(id)).not.toBe(others.code(id))
  })
})
