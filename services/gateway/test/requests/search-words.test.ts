import { addressesOfSearch, wordsOfInbox, wordsOfSearch } from '../../src/inboxes/search/search-words.ts'

describe('the words of an inbox', () => {
  it('are those of its address, split at @ . _ -, and those of its name', () => {
    expect(wordsOfInbox('front-desk_2.a@acme.example', 'Ada (Sales)')).toEqual([
      ...['front', 'desk', '2', 'a', 'acme', 'example'],
      ...['ada', 'sales'],
    ])
  })

  it.each([
    ['Éric', 'ERIC'],
    ['e\u0301ric', 'éric'],
    ['Straße', 'STRASSE'],
    ['Łukasz Øster', 'lukasz oster'],
    ['İstanbul', 'istanbul'],
    ['ＡＢＣ', 'abc'],
    ['ΟΔΟΣ', 'οδοσ'],
    ["O'Brien-Smith", 'o’brien smith'],
  ])('%s is found as %s', (name, searched) => {
    const found = wordsOfInbox('x@y', name)
    for (const word of wordsOfSearch(searched)) expect(found).toContain(word)
  })

  it('are short enough for an index, however long the name and whatever becomes of its letters', () => {
    const words = [
      ...wordsOfInbox(`${'a'.repeat(64)}@b`, '\u{20000}'.repeat(128)),
      ...wordsOfInbox('a@b', 'ﷺ'.repeat(256)),
    ]
    for (const word of words) {
      expect(Buffer.byteLength(word)).toBeLessThan(300)
      expect(word.isWellFormed()).toBe(true)
    }
  })

  it('are none for text without letters and digits', () => {
    expect(wordsOfSearch(' -- \u0000 🎉 ')).toEqual([])
  })
})

describe('a search', () => {
  it('looks for the longest words, and not for what they begin with', () => {
    expect(wordsOfSearch('a sa sales desk')).toEqual(['sales', 'desk', 'a'])
  })

  it('names addresses by what could be the beginning of one, and no others', () => {
    expect(addressesOfSearch('Desk@Acme').beginning[0]).toBe('desk@acme')
    expect(addressesOfSearch('Front desk').beginning).toEqual(['', ''])
  })
})
