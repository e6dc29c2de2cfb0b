import { tokensOf, wordsBeginning } from '../../src/search/text/words.ts'

const PIECES = ['a', 'b', 'ä', 'é', '1', '\u0301', '发', 'ก', '한', '😀', '𞤀', ' ', '-', '\n', 'aa', 'ab ']

describe('the words with a beginning', () => {
  it('are those of the whole text that begin with it', () => {
    let seed = 20_261_123
    const next = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return seed % below
    }
    let found = 0
    for (let round = 0; round < 2_000; round++) {
      const text = Array.from({ length: next(30) }, () => PIECES[next(PIECES.length)]).join('')
      for (const beginning of ['a', 'b', 'ä', '1', '\u0301', '𞤀'.charAt(0), '-']) {
        const words = [...wordsBeginning(text, beginning)]
        const expected = [...tokensOf(text)].filter((token) => !token.isUnspaced && token.text.startsWith(beginning))
        expect([text, words]).toEqual([text, expected])
        found += words.length
      }
    }
    expect(found).toBeGreaterThan(1_000)
  })
})
