import fc from 'fast-check'
import { MAX_HTML_CHARS, visibleText } from '../../src/html/visible-text.ts'

/** Ways to hide SECRET, which must not be read, beside what a person sees: `Hello`. */
const HIDDEN: readonly (readonly [name: string, html: string])[] = [
  ['display none', '<p>Hello</p><p style="display:none">SECRET</p>'],
  ['display none in capitals with spaces', '<p>Hello</p><p STYLE="DISPLAY :\n NONE ;">SECRET</p>'],
  ['display none with !important', '<p>Hello</p><p style="display:none!important">SECRET</p>'],
  ['display none after a quote with a semicolon', `<p>Hello</p><p style="font-family:'a;b';display:none">SECRET</p>`],
  ['display none in an escape of CSS', '<p>Hello</p><p style="d\\69splay:none">SECRET</p>'],
  ['display none after a comment of CSS', '<p>Hello</p><p style="/* x */display:/**/none">SECRET</p>'],
  ['display none in an entity of HTML', '<p>Hello</p><p style="display&colon;n&#111;ne">SECRET</p>'],
  [
    'display none at the end of a very long style',
    `<p>Hello</p><p style="${'a:b;'.repeat(9_000)}display:none">SECRET</p>`,
  ],
  [
    'an element around it that is not shown',
    '<p>Hello</p><div style="display:none"><p style="display:block">SECRET</p></div>',
  ],
  ['content-visibility', '<p>Hello</p><p style="content-visibility:hidden">SECRET</p>'],
  ['the attribute hidden', '<p>Hello</p><p hidden>SECRET</p>'],
  ['visibility hidden', '<p>Hello</p><p style="visibility:hidden">SECRET</p>'],
  ['visibility collapse', '<p>Hello</p><p style="visibility:collapse">SECRET</p>'],
  ['opacity 0', '<p>Hello</p><p style="opacity:0">SECRET</p>'],
  ['opacity of 1 %', '<p>Hello</p><p style="opacity:1%">SECRET</p>'],
  ['opacities that multiply', '<p>Hello</p><div style="opacity:.2"><p style="opacity:.2">SECRET</p></div>'],
  ['a filter of opacity 0', '<p>Hello</p><p style="filter:opacity(0%)">SECRET</p>'],
  ['font size 0', '<p>Hello</p><p style="font-size:0">SECRET</p>'],
  ['font size 1px', '<p>Hello</p><p style="font-size:1px">SECRET</p>'],
  ['font size 0.01em', '<p>Hello</p><p style="font-size:0.01em">SECRET</p>'],
  ['font size 1 % of a small size', '<p>Hello</p><div style="font-size:10px"><p style="font-size:9%">SECRET</p></div>'],
  ['font size 0 in the shorthand', '<p>Hello</p><p style="font:bold 0/0 Arial">SECRET</p>'],
  ['font size calc(0px)', '<p>Hello</p><p style="font-size:calc(0px)">SECRET</p>'],
  ['letters on top of each other', '<p>Hello</p><p style="letter-spacing:-1em">SECRET</p>'],
  ['no height', '<p>Hello</p><p style="height:0;overflow:hidden">SECRET</p>'],
  ['no width', '<p>Hello</p><p style="width:0px;overflow:hidden">SECRET</p>'],
  [
    'one pixel, as for screen readers',
    '<p>Hello</p><p style="position:absolute;width:1px;height:1px;overflow:hidden">SECRET</p>',
  ],
  ['max-height 0', '<p>Hello</p><p style="max-height:0">SECRET</p>'],
  ['max-width 0', '<p>Hello</p><p style="max-width:0px">SECRET</p>'],
  [
    'the usual preheader',
    '<div style="display:none;font-size:1px;color:#fff;line-height:1px;max-height:0;opacity:0;overflow:hidden">SECRET</div><p>Hello</p>',
  ],
  ['text-indent', '<p>Hello</p><p style="text-indent:-9999px">SECRET</p>'],
  ['text-indent that replaces text by a picture', '<p>Hello</p><p style="text-indent:100%;overflow:hidden">SECRET</p>'],
  ['a position to the left', '<p>Hello</p><p style="position:absolute;left:-9999px">SECRET</p>'],
  ['a position above', '<p>Hello</p><p style="position:fixed;top:-200em">SECRET</p>'],
  ['a position to the right, from the right', '<p>Hello</p><p style="position:absolute;right:-9999px">SECRET</p>'],
  ['a margin', '<p>Hello</p><p style="margin-left:-5000px">SECRET</p>'],
  ['margins in the shorthand', '<p>Hello</p><p style="margin:0 0 0 -5000px">SECRET</p>'],
  ['a transform that moves', '<p>Hello</p><p style="transform:translateX(-9999px)">SECRET</p>'],
  ['a transform that shrinks', '<p>Hello</p><p style="transform:rotate(1deg) scale(0)">SECRET</p>'],
  ['scale 0', '<p>Hello</p><p style="scale:0">SECRET</p>'],
  ['clip', '<p>Hello</p><p style="position:absolute;clip:rect(0,0,0,0)">SECRET</p>'],
  ['clip with one pixel', '<p>Hello</p><p style="position:absolute;clip:rect(1px 1px 1px 1px)">SECRET</p>'],
  ['clip-path inset', '<p>Hello</p><p style="clip-path:inset(50%)">SECRET</p>'],
  ['clip-path circle', '<p>Hello</p><p style="clip-path:circle(0)">SECRET</p>'],
  ['clip-path polygon of one point', '<p>Hello</p><p style="clip-path:polygon(0 0, 0 0, 0 0)">SECRET</p>'],
  ['white on the white page', '<p>Hello</p><p style="color:white">SECRET</p>'],
  ['#fff on the white page', '<p>Hello</p><p style="color:#FFF">SECRET</p>'],
  ['nearly white', '<p>Hello</p><p style="color:#fdfdfe">SECRET</p>'],
  ['rgb()', '<p>Hello</p><p style="color:rgb(255, 255, 255)">SECRET</p>'],
  ['rgba() without opacity', '<p>Hello</p><p style="color:rgba(0,0,0,0.02)">SECRET</p>'],
  ['hsl()', '<p>Hello</p><p style="color:hsl(0, 0%, 100%)">SECRET</p>'],
  ['oklch()', '<p>Hello</p><p style="color:oklch(100% 0 0)">SECRET</p>'],
  ['transparent', '<p>Hello</p><p style="color:transparent">SECRET</p>'],
  ['a transparent fill', '<p>Hello</p><p style="color:black;-webkit-text-fill-color:transparent">SECRET</p>'],
  ['an old font element', '<p>Hello</p><font color="#ffffff">SECRET</font>'],
  ['an old font element without #', '<p>Hello</p><font color=FFFFFF>SECRET</font>'],
  [
    'the colour of a table cell',
    '<table><tr><td>Hello</td></tr><tr><td bgcolor="#003366"><font color="#003367">SECRET</font></td></tr></table>',
  ],
  ['the colour of the body', '<body bgcolor="black" text="black">SECRET<p style="color:#ccc">Hello</p></body>'],
  [
    'the colour of an element further out',
    '<p>Hello</p><div style="background:#222"><div><span style="color:#232323">SECRET</span></div></div>',
  ],
  [
    'the colour in a background with a picture',
    '<p>Hello</p><div style="background:url(x.png) no-repeat #fff;color:#fff">SECRET</div>',
  ],
  ['an inherited colour', '<p>Hello</p><div style="color:#fff"><p><b>SECRET</b></p></div>'],
  ['a rule for a class', '<style>.x{display:none}</style><p>Hello</p><p class="a x">SECRET</p>'],
  ['a rule for an id', '<style>#x{visibility:hidden}</style><p>Hello</p><p id=x>SECRET</p>'],
  ['a rule for an element', '<style>i{font-size:0}</style><p>Hello</p><i>SECRET</i>'],
  ['a rule for a place', '<style>div.a > p + p{color:#fff}</style><div class=a><p>Hello</p><p>SECRET</p></div>'],
  ['a rule for an attribute', '<style>[data-x^="a"]{display:none}</style><p>Hello</p><p data-x="ab">SECRET</p>'],
  [
    'a rule for everything, undone elsewhere',
    '<style>*{font-size:0} .y{font-size:12px}</style><p class=y>Hello</p><p>SECRET</p>',
  ],
  [
    'the more specific of two rules',
    '<style>p.x{display:none} p{display:block}</style><p>Hello</p><p class=x>SECRET</p>',
  ],
  [
    'an important rule over the style',
    '<style>.x{display:none!important}</style><p>Hello</p><p class=x style="display:block">SECRET</p>',
  ],
  ['a rule below the text', '<p>Hello</p><p class=x>SECRET</p><style>.x{display:none}</style>'],
  [
    'a rule in a comment, as old mail has it',
    '<style><!-- .x{display:none} --></style><p>Hello</p><p class=x>SECRET</p>',
  ],
  [
    'a rule for screens',
    '<style>@media screen and (min-width:1px){.x{display:none}}</style><p>Hello</p><p class=x>SECRET</p>',
  ],
  [
    'a rule in @supports',
    '<style>@supports (display:block){.x{display:none}}</style><p>Hello</p><p class=x>SECRET</p>',
  ],
  [
    'a rule in a rule',
    '<style>.a{color:black; .x{display:none}}</style><div class=a><p>Hello</p><p class=x>SECRET</p></div>',
  ],
  [
    'a rule after a broken one',
    '<style>}} ;; a{b .x{display:none} } .x{display:none}</style><p>Hello</p><p class=x>SECRET</p>',
  ],
  ['a rule in a drawing', '<svg><style>.x{display:none}</style></svg><p>Hello</p><p class=x>SECRET</p>'],
  ['a template', '<p>Hello</p><template>SECRET</template>'],
  ['noscript', '<p>Hello</p><noscript>SECRET</noscript>'],
  ['what only old browsers show', '<p>Hello</p><iframe>SECRET</iframe><video>SECRET</video><object>SECRET</object>'],
  ['a closed dialog', '<p>Hello</p><dialog>SECRET</dialog>'],
  ['a span that a browser does not close', '<p>Hello</p><span style="display:none"><div></span>SECRET</div>'],
  ['a div that a browser does not close', '<p>Hello</p><div style="display:none"><table></div>SECRET'],
  ['a bold that a browser opens again', '<p>Hello</p><p><b style="display:none"></p>SECRET'],
  ['the alternative text of an unseen picture', '<p>Hello</p><img style="display:none" alt="SECRET">'],
  ['the alternative text of a dot', '<p>Hello</p><img width=1 height=1 alt="SECRET">'],
]

describe('visibleText leaves out and counts what is hidden by', () => {
  it.each(HIDDEN)('%s', (_, html) => {
    const { text, hiddenChars } = visibleText(html)
    expect(text).toBe('Hello')
    expect(hiddenChars % 'SECRET'.length).toBe(0)
    expect(hiddenChars).toBeGreaterThan(0)
  })
})

describe('visibleText leaves out, as no text of the page,', () => {
  it.each([
    ['comments', 'Hello<!-- SECRET -->'],
    ['what is for Outlook alone', 'Hello<!--[if mso]><p>SECRET</p><![endif]-->'],
    ['the title', '<title>SECRET</title>Hello'],
    ['scripts and styles', 'Hello<script>SECRET</script><style>SECRET</style>'],
    ['what looks like CDATA, which is a comment in HTML', 'Hello<![CDATA[ SECRET ]]>'],
    ['values of fields', 'Hello<input type="hidden" value="SECRET"><input value="SECRET">'],
    ['titles and other attributes', '<p title="SECRET" data-note="SECRET" aria-label="SECRET">Hello</p>'],
  ])('%s', (_, html) => {
    expect(visibleText(html)).toEqual({ text: 'Hello', hiddenChars: 0, unreadChars: 0 })
  })
})

describe('visibleText keeps what a person sees:', () => {
  it.each([
    [
      'white text on a dark cell',
      '<table><tr><td bgcolor="#000"><font color="#fff">Hello</font></td></tr></table>',
      'Hello',
    ],
    [
      'white text on a picture, whose colour is unknown',
      '<div style="background-image:url(a.png);color:#fff">Hello</div>',
      'Hello',
    ],
    ['red text on green, as bright as it', '<p style="color:#f00;background:#008200">Hello</p>', 'Hello'],
    ['grey text that eyes can find', '<p style="color:#ccc">Hello</p>', 'Hello'],
    [
      'a link in a white paragraph, which is blue',
      '<p style="color:#fff"><a href="https://a.example">Hello</a></p>',
      'Hello <https://a.example/>',
    ],
    [
      'text with a size of its own in a cell of size 0',
      '<div style="font-size:0"><p style="font-size:14px">Hello</p></div>',
      'Hello',
    ],
    [
      'a visible part of an invisible element',
      '<div style="visibility:hidden"><p style="visibility:visible">Hello</p></div>',
      'Hello',
    ],
    ['a box without height that lets its text out', '<p style="height:0">Hello</p>', 'Hello'],
    ['text that screen readers skip', '<p aria-hidden="true">Hello</p>', 'Hello'],
    ['a button that only Outlook hides', '<p style="mso-hide:all">Hello</p>', 'Hello'],
    ['what all but Outlook show', '<![if !mso]><p>Hello</p><![endif]>', 'Hello'],
    [
      'text that is hidden on telephones',
      '<style>@media (max-width:600px){p{display:none}}</style><p>Hello</p>',
      'Hello',
    ],
    ['text that is hidden on paper', '<style>@media print{p{display:none}}</style><p>Hello</p>', 'Hello'],
    ['text that is hidden under a pointer', '<style>p:hover{display:none}</style><p>Hello</p>', 'Hello'],
    ['a paragraph after one that ends by itself', '<p hidden>no<p>Hello', 'Hello'],
    [
      'what a style makes visible again',
      '<style>.x{display:none}</style><p class=x style="display:block">Hello</p>',
      'Hello',
    ],
    ['closed details, which a click opens', '<details><summary>More</summary>Hello</details>', 'MoreHello'],
  ])('%s', (_, html, text) => {
    expect(visibleText(html).text).toBe(text)
  })
})

describe('visibleText writes', () => {
  it.each([
    [
      'a link with another target',
      '<a href="https://evil.example/login">https://bank.example/login</a>',
      'https://bank.example/login <https://evil.example/login>',
    ],
    [
      'a link that says where it leads, once',
      '<a href="https://a.example/x">https://a.example/x</a> <a href="mailto:bo@a.example">bo@a.example</a>',
      'https://a.example/x bo@a.example',
    ],
    [
      'a link to a look-alike by the name that programs see',
      '<a href="https://аpple.example/">Apple</a>',
      'Apple <https://xn--pple-43d.example/>',
    ],
    [
      'a link with a user name in front of its host',
      '<a href="https://bank.example@evil.example/">Bank</a>',
      'Bank <https://bank.example@evil.example/>',
    ],
    ['a link by its base', '<base href="https://evil.example/"><a href="/x">Go</a>', 'Go <https://evil.example/x>'],
    ['a link of a picture', '<a href="https://a.example/"><img src=x></a>', '[image] <https://a.example/>'],
    [
      'no target of a program or of content',
      '<a href="javascript:alert(1)">a</a> <a href=" jAva\nscript:x">b</a> <a href="data:text/html,SECRET">c</a>',
      'a b c',
    ],
    [
      'no target of a link that is not seen',
      'Hello<a href="https://a.example/?SECRET" style="display:none">x</a><a href="https://a.example/?SECRET"></a>',
      'Hello',
    ],
    [
      'no line break of a target',
      '<a href="https://a.example/\nIgnore this">Go</a>',
      'Go <https://a.example/Ignore%20this>',
    ],
    ['alternative text as such', '<p>Hi <img alt="Our\n logo" src=x> there</p>', 'Hi [image: Our logo] there'],
    [
      'no more of an alternative text than a picture needs',
      `<img alt="${'a'.repeat(300)}">`,
      `[image: ${'a'.repeat(200)}…]`,
    ],
    ['entities as characters', '&lt;/tool_result&gt; &#45;&#45;&#45;', '</tool_result> ---'],
    ['lists, quotes and lines', '<ul><li>a<li>b</ul><blockquote>q</blockquote>c<br>d', '- a\n- b\n\n> q\n\nc\nd'],
    ['cells with a space between', '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    ['preformatted text as it is', '<pre>a\n  b</pre>', 'a\n  b'],
  ])('%s', (_, html, text) => {
    expect(visibleText(html).text).toBe(text)
  })
})

describe('visibleText is bounded', () => {
  it('reads no more than its limit, and says so', () => {
    expect(visibleText(`Hello${' '.repeat(MAX_HTML_CHARS)}SECRET`)).toEqual({
      text: 'Hello',
      hiddenChars: 0,
      unreadChars: 'Hello SECRET'.length - 1,
    })
  })

  it('ends where elements are nested too deep, and says so', () => {
    const { text, unreadChars } = visibleText(`Hello${'<div>'.repeat(100_000)}SECRET`)
    expect(text).toBe('Hello')
    expect(unreadChars).toBeGreaterThan(400_000)
  })

  it('leaves text out when the style sheets are too much work to judge it', () => {
    const { text, hiddenChars } = visibleText(
      `<style>${'*{opacity:1}'.repeat(40_000)}</style>${'<p>x'.repeat(100_000)}`,
    )
    expect(text.length + hiddenChars).toBeGreaterThanOrEqual(100_000)
    expect(text.length).toBeLessThan(1_000)
  })

  it('ends where the parser repeats long attributes, and says so', () => {
    const { text, unreadChars } = visibleText(`<p>Hello<b class="${'x '.repeat(200_000)}">${'<p>y'.repeat(100_000)}`)
    expect(text).toMatch(/^Hello/)
    expect(unreadChars).toBeGreaterThan(300_000)
  })

  it('ends where the parser repeats formatting in each paragraph, and says so', () => {
    const formatting = Array.from({ length: 400 }, (_, at) => `<b id=${at}>`).join('')
    const { text, unreadChars } = visibleText(`<p>Hello${formatting}${'<p>x'.repeat(100_000)}`)
    expect(text).toMatch(/^Hello/)
    expect(unreadChars).toBeGreaterThan(300_000)
  })

  it.each([
    ['open brackets in a style', `<p style="transform:${'translate('.repeat(90_000)}">Hello`],
    ['open brackets in a background', `<p style="background:${'url( a( '.repeat(110_000)}">Hello`],
    ['rules in rules', `<style>${'@media all{'.repeat(80_000)}</style>Hello`],
    ['text that is no rule', '<style>a\\{b</style>Hello'],
    ['brackets in a selector', `<style>${':is('.repeat(200_000)}{color:#fff}</style>Hello`],
    ['many attributes', `<p ${Array.from({ length: 100_000 }, (_, at) => `a${at}`).join(' ')}>Hello`],
    ['many classes', `<p class="${'a '.repeat(400_000)}">Hello`],
    ['many closing tags', `${'</p>'.repeat(200_000)}Hello`],
    ['many siblings', `<style>p~p~p~p{color:#fff}</style>${'<p>'.repeat(100_000)}</p>Hello`],
  ])('for %s', (_, html) => {
    const began = process.threadCpuUsage()
    expect(visibleText(html).text).toBe('Hello')
    expect(process.threadCpuUsage(began).user / 1_000).toBeLessThan(20_000)
  })

  it('never throws, whatever the html is', () => {
    const piece = fc.constantFrom(
      ...'<p> </p> <table> <td> <style> </style> <!-- --> { } ( ) ; : " \' \\ / * @media .a #a & ,'.split(' '),
      ...[
        '<p style="',
        'display:none',
        '<svg>',
        '<template>',
        '<a href="',
        '\u0000',
        '\ud800',
        '&#xd800;',
        '&#0;',
        '\\110000 ',
      ],
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (pieces) => {
        expect(typeof visibleText(pieces.join('')).text).toBe('string')
      }),
      { numRuns: 500 },
    )
  })
})
