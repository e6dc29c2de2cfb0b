import { isAtOrigin, matchesRedirectUri, redirectUriProblem } from '../../src/apps/redirect-uris.ts'

describe('a redirect URI that an operator registers', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example:8443/a/b?x=1',
    'https://app.example',
    'https://app.example/',
    'https://xn--bcher-kva.example/cb',
  ])('may be %s', (uri) => {
    expect(redirectUriProblem(uri, false)).toBeUndefined()
  })

  it.each([
    ['http on a host of the network', 'http://app.example/callback'],
    ['a fragment', 'https://app.example/callback#top'],
    ['an empty fragment', 'https://app.example/callback#'],
    ['user info', 'https://app.example@evil.example/callback'],
    ['an empty password', 'https://app.example:@evil.example/'],
    ['a dot segment', 'https://app.example/a/../callback'],
    ['an encoded dot segment', 'https://app.example/a/%2e%2e/callback'],
    ['a backslash', 'https://app.example\\evil.example/'],
    ['an upper-case host', 'https://App.example/callback'],
    ['the usual port', 'https://app.example:443/callback'],
    ['a tab', 'https://app.example/call\tback'],
    ['a scheme of its own', 'com.example.app:/callback'],
    ['no scheme', '//app.example/callback'],
    ['script', 'javascript:alert(1)'],
    ['an IDN in letters', 'https://bücher.example/'],
    ['2,049 characters', `https://app.example/${'a'.repeat(2_029)}`],
  ])('is refused with %s', (_what, uri) => {
    expect(redirectUriProblem(uri, false)).toEqual(expect.any(String))
    expect(redirectUriProblem(uri, true)).toEqual(expect.any(String))
  })

  it.each(['http://127.0.0.1/cb', 'http://[::1]:4711/cb', 'http://localhost:3000/', 'http://127.0.0.1'])(
    'may be %s for a native app only',
    (uri) => {
      expect(redirectUriProblem(uri, true)).toBeUndefined()
      expect(redirectUriProblem(uri, false)).toBe('May be http on loopback for native apps only')
    },
  )

  it.each(['http://127.0.0.2/cb', 'http://localhost.evil.example/cb', 'http://127.0.0.1.nip.example/cb'])(
    'is never %s, which is not loopback by its name',
    (uri) => {
      expect(redirectUriProblem(uri, true)).toEqual(expect.any(String))
    },
  )
})

describe('a redirect URI of a request', () => {
  const registered = ['https://app.example/callback', 'http://127.0.0.1/cb?x=1', 'http://localhost:3000/cb']

  it.each([
    'https://app.example/callback',
    'http://127.0.0.1:51004/cb?x=1',
    'http://127.0.0.1/cb?x=1',
    'http://localhost:3000/cb',
    'http://localhost:9/cb',
  ])('matches as %s', (uri) => {
    expect(matchesRedirectUri(registered, uri)).toBe(true)
  })

  it.each([
    'https://app.example/callback/',
    'https://app.example/Callback',
    'https://app.example:8443/callback',
    'https://app.example/callback?x=1',
    'https://app.example/x/../callback',
    'https://app.example/callback#',
    'https://APP.example/callback',
    'http://app.example/callback',
    'http://127.0.0.1:99999/cb?x=1',
    'http://127.0.0.1:80@evil.example/cb?x=1',
    'http://127.0.0.1:51004/cb?x=2',
    'http://127.0.0.1:51004/cb?x=1#a',
    'http://[::1]:51004/cb?x=1',
    'https://127.0.0.1:51004/cb?x=1',
    'http://localhost:3000.evil.example/cb',
    '',
  ])('does not match as %j', (uri) => {
    expect(matchesRedirectUri(registered, uri)).toBe(false)
  })
})

describe('a redirect URI of an open client', () => {
  it('lies at the origin of the URL that names the client', () => {
    const client = 'https://app.example/about'
    expect(isAtOrigin(client, 'https://app.example/callback')).toBe(true)
    for (const uri of [
      'http://app.example/callback',
      'https://app.example:8443/callback',
      'https://app.example@evil.example/',
      'https://app.example.evil.example/',
      'https://app.example/../x',
      'https://app.example/callback#x',
    ]) {
      expect([uri, isAtOrigin(client, uri)]).toEqual([uri, false])
    }
  })
})
