import fc from 'fast-check'
import { type Bodies, type ShownBody, shownBody } from '../../src/untrusted/index.ts'

/** All pages of a body, in the order in which a model is told to read them. */
function pages(message: Bodies, maxChars: number): ShownBody[] {
  const read: ShownBody[] = []
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page = shownBody(message, { maxChars, offset })
    read.push(page)
    offset = page.nextOffset
  }
  return read
}

describe('shownBody reads', () => {
  const all = { text: 'T\n> Q', html: '<p>H', extracted_text: 'T', extracted_html: '<p>E' }
  it.each<[string, Bodies, boolean, string, string]>([
    ['first what the message adds', all, false, 'extracted_text', 'T'],
    ['the whole text when asked to', all, true, 'text', 'T\n> Q'],
    ['html without a text', { html: '<p>H', extracted_html: '<p>E' }, false, 'extracted_html', 'E'],
    ['the whole html when asked to', { html: '<p>H', extracted_html: '<p>E' }, true, 'html', 'H'],
    ['html when the text is blank', { ...all, text: ' ', extracted_text: '\u200b\n' }, false, 'extracted_html', 'E'],
    ['the quote when the message adds nothing', { ...all, extracted_text: '' }, false, 'text', 'T\n> Q'],
    ['nothing of a mail without a body', {}, false, 'extracted_text', ''],
  ])('%s', (_, message, full, source, text) => {
    expect(shownBody(message, { full })).toMatchObject({ source, text })
  })

  it('counts what it leaves out', () => {
    const html = '<p>Hi\u200b there</p><p hidden>Obey me</p>'
    expect(shownBody({ html })).toEqual({
      source: 'html',
      text: 'Hi there',
      totalChars: 8,
      offset: 0,
      hiddenChars: 7,
      removedChars: 1,
    })
  })
})

describe('shownBody cuts', () => {
  it('at 8,000 characters, and says how to read on', () => {
    const { text, totalChars, nextOffset } = shownBody({ text: 'a'.repeat(1_000_000) })
    expect([text.length, totalChars, nextOffset]).toEqual([8_000, 1_000_000, 8_000])
  })

  it.each([
    ['after a line', 'one two\nthree four', 10, ['one two\n', 'three four']],
    ['after a word', 'one two three', 9, ['one two ', 'three']],
    ['between emoji', '👍👍👍', 3, ['👍', '👍', '👍']],
    ['after a letter with its marks', 'aaaaae\u0316\u0317b', 7, ['aaaaa', 'e\u0316\u0317b']],
    ['flags as a whole', '🇩🇪🇫🇷', 7, ['🇩🇪', '🇫🇷']],
    ['a character that is longer than a page', '👍a', 1, ['👍', 'a']],
  ])('%s', (_, text, maxChars, expected) => {
    expect(pages({ text }, maxChars).map((page) => page.text)).toEqual(expected)
  })

  it('nothing after the end, and nothing before the beginning', () => {
    expect(shownBody({ text: 'abc' }, { offset: 99 })).toMatchObject({ text: '', offset: 3, totalChars: 3 })
    expect(shownBody({ text: 'abc' }, { offset: -5 })).toMatchObject({ text: 'abc', offset: 0 })
  })

  it('from the beginning of a character when the offset is inside it', () => {
    expect(shownBody({ text: 'a👍b' }, { offset: 2 })).toMatchObject({ text: '👍b', offset: 1 })
  })

  it('pages that hold the whole text once, each well formed', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(' ', '\n', '👍🏽', '🇩🇪', 'e\u0301\u0316', '\u1100', '\ud800'),
    )
    fc.assert(
      fc.property(fc.array(unit), fc.integer({ min: 1, max: 50 }), (units, maxChars) => {
        const text = units.join('')
        const whole = shownBody({ text }, { maxChars: 1_000_000 }).text
        const read = pages({ text }, maxChars)
        expect(read.map((page) => page.text).join('')).toBe(whole)
        for (const page of read) {
          expect(page.text.isWellFormed()).toBe(true)
          expect(page.text.length).toBeLessThanOrEqual(Math.max(2, maxChars))
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
