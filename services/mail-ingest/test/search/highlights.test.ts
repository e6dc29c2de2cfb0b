import { growthOf, MOST_GROWTH } from '@restante/testkit'
import { highlightsOf } from '../../src/search/finding/highlights.ts'
import { searchedWords } from '../../src/search/finding/search-query.ts'
import { Stems } from '../../src/search/text/stems.ts'
import { hashOf, termsOf } from '../../src/search/text/terms.ts'
import { folded } from '../../src/search/text/words.ts'

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

  it('are at their places in text of several scripts, after characters that folding makes longer or shorter', async () => {
    const body = `${'plain '.repeat(20)}ｆｕｌｌ　ｗｉｄｔｈ，请把发票寄来。 ทำใบแจ้งหนี้ Cafe\u0301 Straße end`
    const cases = ['发票', 'ใบแจ้งหนี้', 'café', 'straße', 'end', 'full']
    const shown = ['发票', 'ใบแจ้งหนี้', 'Cafe\u0301', 'Straße', 'end', 'ｆｕｌｌ']
    for (const [at, q] of cases.entries()) {
      const found = await highlights(q, { sender: '', body })
      expect(found?.text?.join(' ')).toContain(`**${shown[at]}**`)
    }
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
  it('are words, stems and beginnings of its body, and pieces and beginnings of its header', async () => {
    const stems = await Stems.load()
    const body = folded('We have received the invoices of last month, and we are paying for them now. 発注書')
    const { terms, languages } = await termsOf({ headers: ['re: bills 請求'], body, documents: '' }, stems)
    expect(languages).toEqual(['en'])
    for (const term of ['invoices', 'invoic', '^in', '^i', '発注', '^書', '*bil', '*^bi', '*^b', '*請求', '*^求']) {
      expect([term, terms.includes(hashOf(term))]).toEqual([term, true])
    }
    expect(terms).toEqual([...new Set(terms)].sort((a, b) => a - b))
  })

  it('are bounded, and leave the event loop free', async () => {
    const stems = await Stems.load()
    const han = Array.from({ length: 50_000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join(
      '',
    )
    const words = Array.from({ length: 20_000 }, (_, at) => `w${at.toString(36)}`).join(' ')
    for (const body of [han, words, `the of and ${words}`]) {
      let turns = 0
      const count = setInterval(() => turns++, 0)
      const { terms } = await termsOf({ headers: ['subject'], body, documents: '' }, stems)
      clearInterval(count)
      expect(terms.length).toBe(10_000)
      expect(terms.includes(hashOf('*sub'))).toBe(true)
      if (body !== han) expect(turns).toBeGreaterThan(3)
    }
  })

  it('are those of its body first, then a share for its attachments', async () => {
    const stems = await Stems.load()
    const words = (letter: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${letter}${at.toString(36)}`).join(' ')
    const count = async (body: string, documents: string) =>
      (await termsOf({ headers: [], body, documents }, stems)).terms.length
    expect(await count(words('b', 100), '')).toBeLessThan(200)
    expect(await count('', words('d', 20_000))).toBeLessThanOrEqual(5_010)
    expect(await count(words('b', 1_000), words('d', 20_000))).toBeGreaterThan(6_000)
    const full = await termsOf({ headers: [], body: words('b', 20_000), documents: 'harbour' }, stems)
    expect(full.terms.length).toBe(10_000)
    expect(full.terms.includes(hashOf('harbour'))).toBe(false)
  })

  it('recognises the language of a short mail by its attachments', async () => {
    const documents = 'wir haben die rechnungen erhalten und werden sie mit der nächsten überweisung bezahlen'
    const { terms, languages } = await termsOf({ headers: ['scan'], body: 'scan', documents }, await Stems.load())
    expect(languages).toEqual(['de'])
    expect(terms.includes(hashOf('rechnung'))).toBe(true)
  })

  it('recognises no language in a name', async () => {
    const { languages } = await termsOf({ headers: [], body: 'die bart', documents: '' }, await Stems.load())
    expect(languages).toEqual([])
  })
})

describe('the folding of text', () => {
  it('finds each form of a letter in each other, beside text whose length it changes', async () => {
    for (const [q, shown] of [
      ['café', 'cafe\u0301'],
      ['cafe\u0301', 'café'],
      ['ΟΔΟΣ', 'οδός'.normalize('NFC').replace('ό', 'ο')],
      ['οδος', 'ΟΔΟΣ'],
      ['istanbul', 'İSTANBUL'],
      ['İstanbul', 'istanbul'],
      ['ガス', 'ｶﾞｽ'],
      ['한국', '한국'.normalize('NFD')],
      ['가', 'ㄱㅏ'],
    ] as const) {
      for (const before of ['', '… ½ ', 'ﬁ…']) {
        const found = await highlights(q, { subject: `${before} ${shown} x`, body: `${before} ${shown} x` })
        const marked = [expect.stringContaining(`**${shown}**`)]
        expect([q, found]).toEqual([q, { subject: marked, text: marked }])
      }
    }
    expect(await highlights('σασ', { subject: 'ΣΑΣΑ' })).toEqual({ subject: ['**ΣΑΣ**Α'] })
  })

  it('divides no word, so that a search has no more words than it was given', async () => {
    expect(searchedWords('¨a¨b it´s', await Stems.load()).map(({ tokens }) => tokens.length)).toEqual([2, 2])
    expect(await highlights('it´s', { body: 'So it´s on' })).toEqual({ text: ['So **it´s** on'] })
  })

  it('costs no more for marks in an order that has to be changed', async () => {
    const marksOf = (count: number) => `a${'\u0315'.repeat(count / 2)}${'\u0316'.repeat(count / 2)}`
    expect(growthOf(400_000, marksOf, folded)).toBeLessThan(MOST_GROWTH)
    const marks = marksOf(100_000)
    expect(folded(marks).length).toBeLessThan(100)
    expect(await highlights('needle', { body: `${marks} needle` })).toMatchObject({ text: [expect.any(String)] })
  })

  it('lets a word of two letters outside the basic plane match the beginnings of words', async () => {
    expect(await highlights('𞤢𞤣', { body: '𞤢𞤣𞤤𞤥' })).toEqual({ text: ['**𞤢𞤣𞤤𞤥**'] })
  })
})
