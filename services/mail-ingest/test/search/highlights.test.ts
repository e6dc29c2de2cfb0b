import { highlightsOf } from '../../src/search/highlights.ts'
import { searchedWords } from '../../src/search/search-query.ts'
import { Stems } from '../../src/search/stems.ts'
import { hashOf, termsOf } from '../../src/search/terms.ts'
import { folded } from '../../src/search/words.ts'

const EMPTY = { sender: 'a@x.test', recipients: [], subject: null, body: '', languages: [] }

async function highlights(q: string, text: Partial<Parameters<typeof highlightsOf>[0]>) {
  const stems = await Stems.load()
  return highlightsOf({ ...EMPTY, ...text }, searchedWords(q, stems), stems)
}

describe('highlights', () => {
  it('are positions of the text as it is shown, where folding changes its length', async () => {
    expect(await highlights('straße', { subject: 'ﬁne ﬀ STRASSE, Straße' })).toEqual({
      subject: ['ﬁne ﬀ STRASSE, **Straße**'],
    })
    expect(await highlights('fine', { subject: 'ﬁne' })).toEqual({ subject: ['**ﬁne**'] })
    expect(await highlights('x', { body: '😀x😀 y' })).toEqual({
      from: ['a@**x**.test'],
      text: ['😀**x**😀 y'],
    })
  })

  it('join matches that overlap or touch', async () => {
    expect(await highlights('abc bcd', { subject: 'abcdef' })).toEqual({ subject: ['**abcd**ef'] })
  })

  it('are none where a word does not match', async () => {
    expect(await highlights('one two', { body: 'one' })).toBeUndefined()
    expect(await highlights('发票', { body: '发一张票' })).toBeUndefined()
  })

  it('stay within their length for long words, many matches and characters of two units', async () => {
    const bodies = [
      'a'.repeat(5_000),
      'ab '.repeat(3_000),
      `${'😀'.repeat(300)} ab ${'😀'.repeat(300)}`,
      `${'x'.repeat(300)} ab`,
    ]
    for (const body of bodies) {
      for (const q of ['ab', 'a'.repeat(300), 'a b ab']) {
        const found = await highlights(q, { sender: '', body })
        for (const fragment of Object.values(found ?? {}).flatMap((fragments) => fragments ?? [])) {
          expect(fragment.length).toBeLessThanOrEqual(160)
          expect(fragment.isWellFormed()).toBe(true)
          expect(fragment).toMatch(/\*\*[^*]+\*\*/)
        }
      }
    }
  })
})

describe('terms of a message', () => {
  it('are found by every word of it, by its stem and by its first two characters', async () => {
    const stems = await Stems.load()
    const body = folded('We have received the invoices of last month, and we are paying for them now. 発注書')
    const { terms, languages } = termsOf({ headers: ['re: bills'], body }, stems)
    expect(languages).toEqual(['en'])
    for (const term of ['invoices', 'invoic', '^in', '^i', 'bills', '*bil', '発注', '^書']) {
      expect([term, terms.includes(hashOf(term))]).toEqual([term, true])
    }
    expect(terms).toEqual([...new Set(terms)].sort((a, b) => a - b))
  })

  it('recognises no language in a name', async () => {
    const { languages } = termsOf({ headers: [], body: 'die bart' }, await Stems.load())
    expect(languages).toEqual([])
  })
})
