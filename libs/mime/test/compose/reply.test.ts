import {
  candidateIds,
  extractReply,
  extractReplyHtml,
  forwardBodies,
  forwardSubject,
  type ReplySource,
  replyAllRecipients,
  replyBodies,
  replyHtml,
  replyRecipients,
  replySubject,
  replyText,
  threadingHeaders,
} from '../../src/index.ts'

const source: ReplySource = {
  messageId: '<2@x>',
  from: 'Ada <ada@customer.test>',
  author: 'Ada <ada@customer.test>',
  replyTo: [],
  to: ['Desk <desk@example.test>', 'bo@other.test'],
  cc: ['cy@other.test'],
  references: ['<1@x>'],
  subject: 'Order',
  text: 'Where is it?\n\nAda\n',
  html: '<p>Where is it?</p>',
  timestamp: new Date('2026-08-24T14:46:31Z'),
  sentByInbox: false,
}

describe('subjects', () => {
  it.each([
    ['Order', 'Re: Order', 'Fwd: Order'],
    ['Re: Order', 'Re: Order', 'Fwd: Re: Order'],
    ['RE: Order', 'RE: Order', 'Fwd: RE: Order'],
    ['FW: Order', 'Re: FW: Order', 'FW: Order'],
    ['fwd: Order', 'Re: fwd: Order', 'fwd: Order'],
    ['Reorder', 'Re: Reorder', 'Fwd: Reorder'],
    [undefined, 'Re:', 'Fwd:'],
  ])('%s', (subject, reply, forward) => {
    expect([replySubject(subject), forwardSubject(subject)]).toEqual([reply, forward])
  })
})

describe('replyRecipients', () => {
  it.each([
    ['the sender', {}, ['Ada <ada@customer.test>']],
    [
      'Reply-To before the sender',
      { replyTo: ['s@customer.test', 't@customer.test'] },
      ['s@customer.test', 't@customer.test'],
    ],
    ['no one, where the sender is not a mailbox', { author: undefined, from: '"CEO <ceo at bank.test>, x"' }, []],
    ["the recipients of the inbox's own message", { sentByInbox: true, from: 'desk@example.test' }, source.to],
  ])('answers %s', (_, change, to) => {
    expect(replyRecipients({ ...source, ...change })).toEqual(to)
  })
})

describe('replyAllRecipients', () => {
  it.each([
    ['everyone but the inbox', {}, ['bo@other.test', 'Ada <ada@customer.test>'], ['cy@other.test']],
    [
      'Reply-To for the sender',
      { replyTo: ['s@customer.test'] },
      ['bo@other.test', 's@customer.test'],
      ['cy@other.test'],
    ],
    [
      'each address once',
      { author: 'BO@other.test', cc: ['Bo <bo@Other.test>', 'DESK@example.test'] },
      ['bo@other.test'],
      [],
    ],
    ['no one, for a mail to oneself', { author: 'desk@example.test', to: ['desk@example.test'], cc: [] }, [], []],
  ])('answers %s', (_, change, to, cc) => {
    expect(replyAllRecipients({ ...source, ...change }, 'desk@Example.test')).toEqual({ to, cc })
  })
})

describe('threading', () => {
  it('extends the references of the source', () => {
    expect(threadingHeaders(source)).toEqual({ inReplyTo: '<2@x>', references: ['<1@x>', '<2@x>'] })
  })

  it('lists the source once and last', () => {
    expect(threadingHeaders({ messageId: '<2@x>', references: ['<2@x>', '<1@x>'] }).references).toEqual([
      '<1@x>',
      '<2@x>',
    ])
  })

  it('uses In-Reply-To first, then the newest reference', () => {
    expect(candidateIds(['<3@x>'], ['<1@x>', '<2@x>', '<3@x>'])).toEqual(['<3@x>', '<2@x>', '<1@x>'])
    expect(candidateIds([], ['<1@x>', '<2@x>'])).toEqual(['<2@x>', '<1@x>'])
    expect(candidateIds([], [])).toEqual([])
  })
})

describe('quoting', () => {
  it('puts the attribution and the quoted text below the words', () => {
    expect(replyText('On its way.', source)).toBe(
      'On its way.\n\nOn Mon, Aug 24, 2026 at 2:46 PM UTC ada@customer.test wrote:\n\n> Where is it?\n> \n> Ada',
    )
  })

  it.each([
    ['2026-01-05T00:05:00Z', 'On Mon, Jan 5, 2026 at 12:05 AM UTC'],
    ['2026-01-05T12:05:00Z', 'On Mon, Jan 5, 2026 at 12:05 PM UTC'],
  ])('writes the time of %s on a twelve-hour clock', (timestamp, line) => {
    expect(replyText('', { ...source, timestamp: new Date(timestamp) })).toContain(line)
  })

  it('quotes the text of an html source', () => {
    const { text: _, ...htmlOnly } = source
    expect(replyText('Yes', htmlOnly)).toContain('\n\n> Where is it?')
    expect(replyText('Yes', { ...htmlOnly, text: ' \n' })).toContain('\n\n> Where is it?')
  })

  it.each([
    ['by its style', '<p style="display:none">SECRET</p>'],
    ['by an attribute', '<p hidden>SECRET</p>'],
  ])('does not bring to light what html hides %s', (_, hidden) => {
    const html = `<html><head><title>Order</title></head><body>${hidden}<p>Where is it?</p></body></html>`
    const { text: _text, ...htmlOnly } = source
    expect(replyText('Yes', { ...htmlOnly, html })).toMatch(/wrote:\n\n> Where is it\?$/)
    const { text } = forwardBodies({ text: 'See' }, { ...htmlOnly, html })
    expect(text).toContain('Where is it?')
    expect(text).not.toContain('SECRET')
  })

  it('quotes links and pictures of html by their words', () => {
    const { text: _, ...htmlOnly } = source
    const html = '<p>See <a href="https://x.test/y">the order</a><img src="a.png" alt="A box">.</p>'
    expect(replyText('Yes', { ...htmlOnly, html })).toMatch(/\n\n> See the orderA box\.$/)
  })

  it('puts the html of the source into the container that extractors recognise', () => {
    const html = replyHtml('<p>On its way.</p>', source)
    expect(html).toMatch(
      /^<p>On its way\.<\/p><br><div class="gmail_quote">.*ada@customer\.test wrote:<br><\/div><blockquote/,
    )
    expect(html).toContain('><p>Where is it?</p></blockquote></div>')
  })

  it("keeps the caller's document and inserts only the content of the other", () => {
    const html = replyHtml('<html><body>Yes</body></html>', {
      ...source,
      html: '<HTML><BODY bgcolor=red>No</BODY></HTML>',
    })
    expect(html).toMatch(/^<html><body>Yes<br><div class="gmail_quote">.*>No<\/blockquote><\/div><\/body><\/html>$/)
  })

  it('escapes text from a text source or an address', () => {
    const html = replyHtml('', { from: '"<b>" <a&b@x.test>', text: '<script>\n', timestamp: source.timestamp })
    expect(html).toContain('a&amp;b@x.test wrote:')
    expect(html).toContain('&lt;script&gt;<br>')
  })

  it('quotes in the forms the caller gave', () => {
    expect(Object.keys(replyBodies({ text: 'a' }, source))).toEqual(['text'])
    expect(Object.keys(replyBodies({ html: 'a' }, source))).toEqual(['html'])
    expect(replyBodies({}, source)).toEqual({})
  })

  it('is removed again by extraction', () => {
    expect(extractReply(replyText('On its way.\n\nBo', source))).toBe('On its way.\n\nBo')
    expect(extractReplyHtml(replyHtml('<p>On its way.</p>', source))).toBe('<p>On its way.</p>')
  })
})
