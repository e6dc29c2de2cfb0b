import { hashedUuid } from '../../src/database/index.ts'

describe('hashedUuid', () => {
  it('is a UUID of version 8 that is the same for the same text, in this version and the next', () => {
    expect(hashedUuid('bounce notice 1')).toBe(hashedUuid('bounce notice 1'))
    expect(hashedUuid('bounce notice 1')).not.toBe(hashedUuid('bounce notice 2'))
    expect(hashedUuid('')).toBe('e3b0c442-98fc-8c14-8afb-f4c8996fb924')
  })
})
