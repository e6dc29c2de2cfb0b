import { excessOf } from '../../src/http/json-parts.ts'

/** The least bound on parts that a text fits. */
function partsOf(text: string): number {
  const bytes = Buffer.from(text)
  for (let parts = 0; ; parts++) if (excessOf(bytes, { parts, depth: 100 }) === undefined) return parts
}

describe('the parts of a JSON text', () => {
  it.each([
    ['{}', 1],
    ['{"a":1}', 1],
    ['{"a":1,"b":[1,2,3],"c":{"d":null}}', 7],
    ['[[],[],{}]', 6],
  ])('%s has %i', (text, parts) => {
    expect(partsOf(text)).toBe(parts)
  })

  it.each([0, 1, 2, 100, 254, 255, 256, 257, 511, 512, 513, 1_000])(
    'are outside of strings, whatever these hold, with an escape at place %i',
    (place) => {
      for (const escaped of ['\\"', '\\\\', '\\\\\\"', '\\u0022']) {
        const string = `"${'[,{'.repeat(place).slice(0, place)}${escaped}${',]'.repeat(300)}"`
        const text = `{"a":${string},"b":${string}}`
        expect(JSON.parse(text)).toHaveProperty('b')
        expect(partsOf(text)).toBe(2)
      }
    },
  )

  it('are bounded in depth as well', () => {
    const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels))
    expect(excessOf(nested(64), { parts: 1_000, depth: 64 })).toBeUndefined()
    expect(excessOf(nested(65), { parts: 1_000, depth: 64 })).toBe('depth')
    expect(excessOf(Buffer.from(`[${'[],'.repeat(500)}0]`), { parts: 2_000, depth: 2 })).toBeUndefined()
  })

  it.each(['"', '"\\', '{"a', '[', '{"a":"\\"', ''])('end with the text where it is no JSON: %j', (text) => {
    expect(excessOf(Buffer.from(text), { parts: 10, depth: 10 })).toBeUndefined()
  })
})
