import { folded, tokensOf, wordsBeginning } from '../../src/search/text/words.ts'

const PIECES = ['a', 'b', 'ä', 'é', '1', '\u0301', '发', 'ー', 'ก', '한', '😀', '𞤀', ' ', '-', '\n', 'aa', 'ab ']

describe('the words of a text', () => {
  it.each([
    ['サーバー', ['サーバー']],
    ['ｻｰﾊﾞｰ', ['サーバー']],
    ['か゚あ゙', ['か゚あ゙']],
    ['時々、〆切。', ['時々', '〆切']],
    ['コーヒー・お茶「はい」', ['コーヒー', 'お茶', 'はい']],
  ])('keep characters that scripts without spaces share in their runs: %s', (text, runs) => {
    expect([...tokensOf(folded(text))].map(({ text, isUnspaced }) => isUnspaced && text)).toEqual(runs)
  })

  it('take no characters of other scripts into such runs, nor digits and punctuation', () => {
    const text = 'ab12 3.5 x\u0323 y\u0305 Київʼ a·b'
    const words = [...tokensOf(folded(text))]
    expect(words.map(({ text }) => text)).toEqual(['ab12', '3', '5', 'x\u0323', 'y\u0305', 'київʼ', 'a', 'b'])
    expect(words.filter(({ isUnspaced }) => isUnspaced)).toEqual([])
  })
})

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
