import { KeyRing } from '../../src/secrets/index.ts'

const ring = (current: string, ...previous: string[]) => new KeyRing({ current, previous, purpose: 'tests' })

describe('a ring of encryption keys', () => {
  it('opens what any of its keys has sealed', () => {
    const { sealed, sealedWith } = ring('one').seal('row', 'secret')
    expect(ring('two', 'zero', 'one').open('row', sealed, sealedWith)).toBe('secret')
    expect(ring('two', 'one').seal('row', 'x').sealedWith).toBe(ring('two').current)
  })

  it('opens nothing of another key, of another row, or of another purpose', () => {
    const { sealed, sealedWith } = ring('one').seal('row', 'secret')
    expect(() => ring('two').open('row', sealed, sealedWith)).toThrow(/PREVIOUS_ENCRYPTION_KEYS/)
    expect(() => ring('one').open('other', sealed, sealedWith)).toThrow()
    expect(() => new KeyRing({ current: 'one', previous: [], purpose: 'x' }).open('row', sealed, sealedWith)).toThrow()
  })

  it('names its keys without telling them', () => {
    expect(ring('one').current).toMatch(/^[0-9a-f]{16}$/)
    expect(ring('one').current).not.toBe(ring('two').current)
  })
})
