import { isLoopback } from '../src/connections/index.ts'

describe('an address of this machine alone', () => {
  it.each(['127.0.0.1', '127.9.8.7', '::1', '::ffff:127.0.0.1'])('is %s', (address) => {
    expect(isLoopback(address)).toBe(true)
  })

  it.each(['128.0.0.1', '10.0.0.1', '::2', '::ffff:10.0.0.1', 'localhost', '127.evil.example', ''])(
    'is not %j',
    (address) => {
      expect(isLoopback(address)).toBe(false)
    },
  )
})
