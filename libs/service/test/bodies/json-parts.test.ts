import { excessOf } from '../../src/http/framing/json-parts.ts'

/** The least bound on parts that a text stays within. */
async function partsOf(text: string): Promise<number> {
  const bytes = Buffer.from(text)
  for (let parts = 0; ; parts++) if ((await excessOf(bytes, { parts, depth: 100 })) === undefined) return parts
}

describe('counting the parts of a JSON text', () => {
  it.each([
    ['{}', 1],
    ['{"a":1}', 1],
    ['{"a":1,"b":[1,2,3],"c":{"d":null}}', 7],
    ['[[],[],{}]', 6],
  ])('counts in %s %i parts', async (text, parts) => {
    expect(await partsOf(text)).toBe(parts)
  })

  it.each([0, 1, 2, 100, 254, 255, 256, 257, 511, 512, 513, 1_000])(
    'ignores the content of strings, with an escape at place %i',
    async (place) => {
      for (const escaped of ['\\"', '\\\\', '\\\\\\"', '\\u0022']) {
        const string = `"${'[,{'.repeat(place).slice(0, place)}${escaped}${',]'.repeat(300)}"`
        const text = `{"a":${string},"b":${string}}`
        expect(JSON.parse(text)).toHaveProperty('b')
        expect(await partsOf(text)).toBe(2)
      }
    },
  )

  it('bounds the depth as well', async () => {
    const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels))
    expect(await excessOf(nested(64), { parts: 1_000, depth: 64 })).toBeUndefined()
    expect(await excessOf(nested(65), { parts: 1_000, depth: 64 })).toBe('depth')
    expect(await excessOf(Buffer.from(`[${'[],'.repeat(500)}0]`), { parts: 2_000, depth: 2 })).toBeUndefined()
  })

  it.each(['"', '"\\', '{"a', '[', '{"a":"\\"', ''])('ends with the text where it is not JSON: %j', async (text) => {
    expect(await excessOf(Buffer.from(text), { parts: 10, depth: 10 })).toBeUndefined()
  })

  it.each([
    ['digits', `[${'9'.repeat(5_000_000)},1]`],
    ['blanks', `[${' '.repeat(5_000_000)}1,1]`],
    ['escaped quotes', `["${'\\"'.repeat(2_500_000)}",1]`],
    ['empty strings', `[${'""'.repeat(2_500_000)},1]`],
  ])('counts megabytes of %s over many turns of the event loop', async (_case, text) => {
    let turns = 0
    let ended = false
    const turn = (): void => {
      turns++
      if (!ended) setImmediate(turn)
    }
    setImmediate(turn)
    expect(await excessOf(Buffer.from(text), { parts: 2, depth: 1 })).toBeUndefined()
    ended = true
    expect(turns).toBeGreaterThanOrEqual(15)
    expect(await excessOf(Buffer.from(text), { parts: 1, depth: 1 })).toBe('parts')
  })
})
