import { extractReplyHtml, htmlToText } from '../../src/index.ts'

const attribution = 'On Tue, 3 Mar 2026 at 09:10, Bo &lt;<a href="mailto:bo@x.org">bo@x.org</a>&gt; wrote:'

describe('extractReplyHtml cuts the history of', () => {
  it.each([
    [
      'Gmail',
      `<div dir="ltr">Fine by me.</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">${attribution}<br></div><blockquote class="gmail_quote" style="x">Lunch?</blockquote></div>`,
      '<div dir="ltr">Fine by me.</div>',
    ],
    [
      'Gmail with a signature',
      `<div dir="ltr">Fine by me.<div><br></div><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature">Al</div></div><div class="gmail_quote">Lunch?</div>`,
      '<div dir="ltr">Fine by me.</div>',
    ],
    [
      'Apple Mail',
      `<html><head></head><body style="x">Fine by me.<br><div><br><blockquote type="cite"><div>${attribution}</div><br class="Apple-interchange-newline"><div>Lunch?</div></blockquote></div><br></body></html>`,
      '<html><head></head><body style="x">Fine by me.</body></html>',
    ],
    [
      'iOS Mail',
      `<html><body dir="auto"><div dir="ltr">Fine by me.</div><div dir="ltr">Sent from my iPhone</div><div dir="ltr"><br><blockquote type="cite">${attribution}<br><br></blockquote></div><blockquote type="cite"><div dir="ltr">Lunch?</div></blockquote></body></html>`,
      '<html><body dir="auto"><div dir="ltr">Fine by me.</div></body></html>',
    ],
    [
      'Outlook.com',
      '<html><head><style>p{}</style></head><body><div>Fine by me.</div><div id="appendonsend"></div><hr style="x"><div id="divRplyFwdMsg" dir="ltr"><b>From:</b> Bo<br><b>Sent:</b> Tue<br></div><div>Lunch?</div></body></html>',
      '<html><head><style>p{}</style></head><body><div>Fine by me.</div></body></html>',
    ],
    [
      'Outlook on the web, without the append mark',
      '<body><p>Fine by me.</p><hr tabindex="-1"><div id="divRplyFwdMsg"><b>From:</b> Bo</div><div>Lunch?</div></body>',
      '<body><p>Fine by me.</p></body>',
    ],
    [
      'Outlook for Windows',
      '<html><body><div class="WordSection1"><p class="MsoNormal">Fine by me.<o:p></o:p></p><p class="MsoNormal"><o:p>&nbsp;</o:p></p><div><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p class="MsoNormal"><b>From:</b> Bo &lt;bo@x.org&gt;<br><b>Sent:</b> Tuesday, March 3, 2026<br><b>To:</b> Al<br><b>Subject:</b> Lunch<o:p></o:p></p></div></div><p>Lunch?</p></div></body></html>',
      '<html><body><div class="WordSection1"><p class="MsoNormal">Fine by me.</p></div></body></html>',
    ],
    [
      'Outlook for Mac',
      '<body><div>Fine by me.</div><span id="OLK_SRC_BODY_SECTION"><div>From: Bo</div><div>Lunch?</div></span></body>',
      '<body><div>Fine by me.</div></body>',
    ],
    [
      'Thunderbird',
      `<html><body><p>Fine by me.</p><div class="moz-cite-prefix">On 3/3/26 09:10, Bo wrote:<br></div><blockquote cite="mid:1@x"><p>Lunch?</p></blockquote><br></body></html>`,
      '<html><body><p>Fine by me.</p></body></html>',
    ],
    [
      'Roundcube',
      `<body><p>Fine by me.</p><p id="reply-intro">On 2026-03-03 09:10, Bo wrote:</p><blockquote type="cite">Lunch?</blockquote></body>`,
      '<body><p>Fine by me.</p></body>',
    ],
    [
      'Yahoo',
      `<div class="ydp1"><div>Fine by me.</div></div><div id="yahoo_quoted_1" class="yahoo_quoted"><div>${attribution}</div><div>Lunch?</div></div>`,
      '<div class="ydp1"><div>Fine by me.</div></div>',
    ],
    ['Proton', `<div>Fine by me.</div><div class="protonmail_quote">Lunch?</div>`, '<div>Fine by me.</div>'],
    [
      'a client without markup of its own',
      `<p>Fine by me.</p><p>${attribution}</p><blockquote>Lunch?</blockquote>`,
      '<p>Fine by me.</p>',
    ],
    [
      'an attribution above a cited quote',
      `<p>Fine by me.</p><p>${attribution}</p><blockquote type="cite">Lunch?</blockquote>`,
      '<p>Fine by me.</p>',
    ],
    ['text in html clothes', `Fine by me.<br><br>${attribution}<br>&gt; Lunch?<br>`, 'Fine by me.'],
    ['a quote that is never closed', 'Fine by me.<div class="gmail_quote"><div>Lunch?', 'Fine by me.'],
    [
      "an announcement on the writer's line",
      `<div>Fine by me. ${attribution}<blockquote type="cite">Lunch?</blockquote></div>`,
      '<div>Fine by me.</div>',
    ],
    [
      'preformatted text',
      '<pre>Fine by me.\n\nOn 2026-03-03 09:10, Bo wrote:\n&gt; Lunch?\n</pre>',
      '<pre>Fine by me.</pre>',
    ],
    [
      'a quote of the writer above the history',
      `<p>Fine by me.</p><blockquote class="gmail_quote">Lunch on 4 March?</blockquote><div class="gmail_quote">${attribution}<blockquote class="gmail_quote">Lunch?</blockquote></div>`,
      '<p>Fine by me.</p><blockquote class="gmail_quote">Lunch on 4 March?</blockquote>',
    ],
    [
      'a list with a footer of its own',
      `<p>Fine by me.</p><p>${attribution}</p><blockquote type="cite">Lunch?</blockquote><p>--<br>To unsubscribe, mail <a href="mailto:u@x.org">u@x.org</a></p>`,
      '<p>Fine by me.</p>',
    ],
    [
      'GMX, by the name of its container',
      '<div>Fine by me.</div><div name="quote"><div><b>Gesendet:</b> Dienstag<br><b>Von:</b> Bo</div>Lunch?</div>',
      '<div>Fine by me.</div>',
    ],
  ])('%s', (_, html, reply) => {
    expect(extractReplyHtml(html)).toBe(reply)
  })
})

describe('extractReplyHtml keeps', () => {
  it.each([
    ['html without history', '<p>Hello</p><blockquote>Wise words</blockquote><p>Bo</p>'],
    [
      'Gmail forwards',
      '<div>FYI</div><div class="gmail_quote"><div class="gmail_attr">---------- Forwarded message ---------<br>From: Bo<br>Date: Tue<br>Subject: x<br>To: Al<br></div><div>Lunch?</div></div>',
    ],
    [
      'Apple forwards',
      '<body>FYI<br><blockquote type="cite"><div>Begin forwarded message:</div><br><div><b>From: </b>Bo</div><div>Lunch?</div></blockquote></body>',
    ],
    [
      'Thunderbird forwards',
      '<body><p>FYI</p><div class="moz-forward-container">-------- Forwarded Message --------<blockquote type="cite">Lunch?</blockquote></div></body>',
    ],
    [
      'a mail passed on without a word',
      '<html><head><style>p{}</style></head><body><div id="divRplyFwdMsg"><b>From:</b> Bo<br><b>Sent:</b> Tue<br><b>To:</b> Al</div><div>Lunch?</div></body></html>',
    ],
    ['an image alone', '<div><img src="cid:x"></div>'],
    ['nothing', ''],
    ['a mail that consists of history only', '<div class="gmail_quote">Lunch?</div>'],
    [
      'answers between the quotes',
      '<p>Hi</p><blockquote type="cite">a?</blockquote><p>yes</p><blockquote type="cite">b?</blockquote><p>no</p>',
    ],
    ['an answer below the quote', '<blockquote type="cite">a?</blockquote><p>yes</p>'],
    [
      'a container with words between its quotes',
      '<div class="gmail_quote"><div class="gmail_attr">On Tue, Bo wrote:</div><blockquote class="gmail_quote">a?</blockquote>yes<blockquote class="gmail_quote">b?</blockquote></div>',
    ],
    [
      "the writer's own quotation at the end",
      '<p>The rule is:</p><blockquote class="gmail_quote">No cats.</blockquote>',
    ],
  ])('%s', (_, html) => {
    expect(extractReplyHtml(html)).toBe(html)
  })

  it('an image above the history', () => {
    expect(extractReplyHtml('<div><img src="cid:x"></div><div class="gmail_quote">Lunch?</div>')).toBe(
      '<div><img src="cid:x"></div>',
    )
  })
})

describe('htmlToText', () => {
  it.each([
    ['<p>a</p><p>b</p>', 'a\n\nb'],
    ['<div>a</div><div>b</div>', 'a\nb'],
    ['a<br>b<br><br>c', 'a\nb\n\nc'],
    ['  a \n <b> b</b>&nbsp;c', 'a b c'],
    ['a&amp;b &lt;c&gt; &euro; &#x263a;', 'a&b <c> € ☺'],
    ['<ul><li>a<li><p>b</p></ul>', '- a\n\n- b'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    ['<pre>a\n  b\n\nc</pre>', 'a\n  b\n\nc'],
    ['<blockquote>a<blockquote>b</blockquote></blockquote>', '> a\n>\n> > b'],
    ['<style>x</style><script>y</script><title>z</title><p hidden>w</p>a', 'a'],
    ['<div style="display: none">preheader</div>a', 'a'],
    ['<img style="display:none" alt="x">a<img alt="logo"><img src=x>', 'alogo'],
    ['a<!-- b -->c', 'ac'],
    ['<p>a</b></p></div>b', 'a\n\nb'],
    ['<head><p>a<body>b', 'b'],
    ['a < b', 'a < b'],
    ['', ''],
  ])('%s', (html, text) => {
    expect(htmlToText(html)).toBe(text)
  })
})
