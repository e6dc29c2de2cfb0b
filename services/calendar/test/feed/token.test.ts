import { newToken, tokenIn } from '../../src/feed/token.ts'

it('finds the secret of a feed with and without the ending of a calendar file', () => {
  const token = newToken()
  expect(tokenIn(token)).toBe(token)
  expect(tokenIn(`${token}.ics`)).toBe(token)
})

it('finds no secret in anything else', () => {
  const token = newToken()
  for (const text of ['', '.ics', token.slice(1), `${token}a`, `${token}.ics.ics`, `${token}/..`]) {
    expect(tokenIn(text)).toBeUndefined()
  }
})
