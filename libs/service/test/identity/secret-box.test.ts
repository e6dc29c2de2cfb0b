import { DecryptionError, SecretBox } from '../../src/secrets/index.ts'

const box = new SecretBox('a secret of the installation', 'webhook secrets')

/** The same bytes but for one bit. */
function changed(sealed: Buffer): Buffer {
  sealed.writeUInt8(sealed.readUInt8(20) ^ 1, 20)
  return sealed
}

describe('SecretBox', () => {
  it('opens what it sealed, and seals the same text differently each time', () => {
    const sealed = box.seal('row 1', 'whsec_ä')
    expect(box.open('row 1', sealed)).toBe('whsec_ä')
    expect(box.seal('row 1', 'whsec_ä').equals(sealed)).toBe(false)
    expect(sealed.toString('latin1')).not.toContain('whsec')
  })

  it.each([
    ['for another context', () => box.open('row 2', box.seal('row 1', 'x'))],
    ['with another secret', () => new SecretBox('another', 'webhook secrets').open('row 1', box.seal('row 1', 'x'))],
    [
      'for another purpose',
      () => new SecretBox('a secret of the installation', 'page tokens').open('row 1', box.seal('row 1', 'x')),
    ],
    ['after a change', () => box.open('row 1', changed(box.seal('row 1', 'x')))],
    ['that was cut short', () => box.open('row 1', box.seal('row 1', 'x').subarray(0, 20))],
    ['that is empty', () => box.open('row 1', Buffer.alloc(0))],
  ])('opens nothing %s', (_what, open) => {
    expect(open).toThrow(DecryptionError)
  })
})
