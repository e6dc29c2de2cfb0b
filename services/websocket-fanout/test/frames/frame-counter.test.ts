import { FrameCounter } from '../../src/connections/frame-counter.ts'

const MASK = Buffer.alloc(4)

/** One masked frame with a payload of this many bytes, which look like headers themselves. */
function frame(first: number, length: number): Buffer {
  const payload = Buffer.alloc(length, 0x81)
  if (length < 126) return Buffer.concat([Buffer.from([first, 0x80 | length]), MASK, payload])
  if (length < 0x1_0000) return Buffer.concat([Buffer.from([first, 0xfe, length >> 8, length & 0xff]), MASK, payload])
  const head = Buffer.alloc(10)
  head.set([first, 0xff])
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, MASK, payload])
}

const KINDS = { text: 0x81, part: 0x00, last: 0x80, close: 0x88, ping: 0x89, pong: 0x8a }

describe('FrameCounter', () => {
  it.each(Object.entries(KINDS))('counts each %s frame once, whatever its length', (_kind, first) => {
    for (const length of [0, 1, 125, 126, 0xffff, 0x1_0000]) {
      const counter = new FrameCounter()
      expect(counter.begunIn(Buffer.concat([frame(first, length), frame(first, 3), frame(first, length)]))).toBe(3)
    }
  })

  it('counts the same however the bytes are split', () => {
    const bytes = Buffer.concat(
      [0, 125, 126, 70_000, 5].flatMap((length) => Object.values(KINDS).map((first) => frame(first, length))),
    )
    for (const size of [1, 2, 3, 7, 1_000, 65_536]) {
      const counter = new FrameCounter()
      let total = 0
      for (let at = 0; at < bytes.length; at += size) total += counter.begunIn(bytes.subarray(at, at + size))
      expect(total).toBe(30)
    }
  })
})
