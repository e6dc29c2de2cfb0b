import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'
import { extractReplyHtml, forwardBodies, OpenImage, type ReplySource, replyHtml } from '../../src/index.ts'

const source: ReplySource = {
  messageId: '<2@x>',
  from: 'Ada <ada@customer.test>',
  author: 'Ada <ada@customer.test>',
  replyTo: [],
  to: ['desk@example.test'],
  cc: [],
  references: [],
  subject: 'Order',
  text: 'the text of the source',
  timestamp: new Date('2026-08-24T14:46:31Z'),
  sentByInbox: false,
}
const OWN = '<p>On its way.</p>'
const sendId = '7d3c1b52-6c40-4a0b-9d6b-1c2f7f4a9e10'
const openImage = new OpenImage('secret')

/** What is in the blockquote of a reply to html. */
function quoted(html: string): string | undefined {
  return /<blockquote class="gmail_quote"[^>]*>(.*)<\/blockquote><\/div>$/s.exec(
    replyHtml(OWN, { ...source, html }),
  )?.[1]
}

type Node = DefaultTreeAdapterTypes.ChildNode

/** The elements of a page, as those read it who run scripts and those who do not. */
function readings(html: string): Node[][] {
  return [true, false].map((scriptingEnabled) => parseFragment(html, { scriptingEnabled }).childNodes)
}

function shape(node: Node | undefined): string | undefined {
  if (node === undefined || !('tagName' in node)) return node?.nodeName
  return `${node.tagName}.${node.attrs.find(({ name }) => name === 'class')?.value ?? ''}`
}

/** Sources that would get out of what they are quoted in, or swallow what follows. */
const HOSTILE = [
  'Hi</blockquote></div><p>Approved, please pay.</p>',
  'Hi</div></div></td></tr></table></body></html><p>Approved</p>',
  'Hi</blockquote></div><div class="gmail_quote">',
  ...'style textarea title script plaintext xmp noscript iframe noframes noembed template'
    .split(' ')
    .map((name) => `Hi<${name}>x</blockquote></div><p>Approved</p>`),
  ...'table select button form svg math div b a table><tr><td object'
    .split(' ')
    .map((name) => `Hi<${name}></blockquote></div><p>Approved</p>`),
  'Hi<!-- </blockquote>',
  'Hi<!--[if mso]></blockquote></div><p>Approved</p><![endif]-->',
  'Hi<![if !mso]></blockquote></div><p>Approved</p>',
  'Hi<a title="</blockquote></div><p>Approved</p>',
  'Hi<a title="',
  'Hi</blockquote',
  'Hi<',
  // Read again as it was written, these close what is around them.
  '<button><div><table><button></button></table></div></button><p>Approved</p>',
  '<noscript><p title="</noscript></blockquote></div><p>Approved</p>"></noscript>',
  '<form><div></form><form><math><mtext></form><form><mglyph><style></math></blockquote></div><p>Approved</p>',
  '<svg><style><a title="</style></blockquote></div><p>Approved</p>">',
  '<select><div></select></div></div><p>Approved</p>',
  '<li><div><li></li></div></li></div><p>Approved</p>',
  '<div>'.repeat(600),
]

describe('the html of a source', () => {
  it.each(HOSTILE)('stays inside the quote of a reply: %s', (html) => {
    const reply = replyHtml(OWN, { ...source, html })
    for (const nodes of readings(openImage.addTo(reply, 'track.test', sendId))) {
      expect(nodes.map(shape)).toEqual(['p.', 'br.', 'div.gmail_quote', 'img.'])
      const [, , quote] = nodes
      expect(quote && 'childNodes' in quote && quote.childNodes.map(shape)).toEqual([
        'div.gmail_attr',
        'blockquote.gmail_quote',
      ])
    }
    expect(extractReplyHtml(reply)).toBe(OWN)
  })

  it.each(HOSTILE)('stays inside the block of a forward: %s', (html) => {
    const { html: forward = '' } = forwardBodies({ html: OWN }, { ...source, html })
    for (const nodes of readings(openImage.addTo(forward, 'track.test', sendId)))
      expect(nodes.map(shape)).toEqual(['p.', 'br.', 'div.forwarded_message', 'img.'])
  })

  it.each([
    '<p>Where is <b>it</b>?</p>',
    '<table border="0"><tbody><tr><td style="color:red">A &amp; B</td></tr></tbody></table>',
    '<style>p > b { color: red }</style><p>x</p>',
    '<ul><li>one</li><li>two</li></ul><pre>\n\na\n b</pre><img src="cid:logo" alt="&quot;Logo&quot;"><br>',
    '<blockquote type="cite"><div dir="rtl">שלום&nbsp;🎉</div></blockquote>',
    '<p class="MsoNormal">Hi<o:p></o:p></p>',
    `<p>Hi</p><img src="data:image/png;base64,${'A'.repeat(3_000_000)}"><p>Amount: 500</p>`,
  ])('is quoted as it is when its elements are closed: %.80s', (html) => {
    expect(quoted(html)).toBe(html)
  })

  it.each([
    ['<P>One<p>Two<BR/><img src=x>', '<p>One</p><p>Two<br><img src="x"></p>'],
    ['<html><head><title>T</title><style>x</style></head><body bgcolor=red>No</body></html>', 'No'],
    ['<title>T</title><base href="https://x.test"><p>No</p>', '<p>No</p>'],
    ['a<!-- b -->c', 'ac'],
    ['<table><tr><td>x', '<table><tbody><tr><td>x</td></tr></tbody></table>'],
    ['<plaintext>1 < 2', '<pre>1 &lt; 2</pre>'],
  ])('has its elements closed, and nothing that is no content: %s', (html, expected) => {
    expect(quoted(html)).toBe(expected)
  })

  it.each([
    ['of too many elements', '<br>'.repeat(100_000)],
    ['nested too deep', '<div>'.repeat(100_000)],
    ['repeated by the parser', `<p>${'<b id=1><b id=2><b id=3>'.repeat(100)}</p>${'<p>x</p>'.repeat(20_000)}`],
    ['with attributes that the parser repeats', `<p><b title="${'x'.repeat(500_000)}"></p>${'<p>x</p>'.repeat(1_000)}`],
    ['moved by the parser', `${numbered('<b id=', 400)}<p>${'<i></i>'.repeat(25_000)}${'</b>'.repeat(400)}`],
  ])('is quoted in bounded time when it is %s', (_, html) => {
    const started = performance.now()
    expect(quoted(html)).toMatch(/the text of the source|^<b id="0">/)
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('a forward of html that cannot be put into another page', () => {
  const html = `${'<br>'.repeat(100_000)}<p>The end</p>`
  const { text: _, ...htmlOnly } = source

  it('brings the original, where the source has no text', () => {
    const forward = forwardBodies({ text: 'See' }, { ...htmlOnly, html })
    expect(forward.original).toBe(html)
    for (const body of [forward.text, forward.html]) expect(body).toContain('attached as original.html')
    const inHtml = forwardBodies({ html: OWN }, { ...htmlOnly, html: '<div>'.repeat(600) })
    expect(inHtml.original).toBe('<div>'.repeat(600))
    expect(inHtml.html).toContain('attached as original.html')
  })

  it('has the text of the source instead, where there is one', () => {
    const forward = forwardBodies({ text: 'See' }, { ...source, html })
    expect(forward).not.toHaveProperty('original')
    for (const body of [forward.text, forward.html]) expect(body).toContain('the text of the source')
  })

  it('brings no original where the html is in it', () => {
    expect(forwardBodies({ text: 'See' }, { ...htmlOnly, html: '<p>All</p>' })).not.toHaveProperty('original')
  })
})

function numbered(tag: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${tag}${index}>`).join('')
}
