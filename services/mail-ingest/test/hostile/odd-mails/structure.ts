import { base64, HEAD, type OddMail, odd, oddBody, utf8 } from './odd-mail.ts'

const MIXED = 'Content-Type: multipart/mixed; boundary=b'
const GIF = ['Content-Type: image/gif; name=a.gif', 'Content-Transfer-Encoding: base64', '', 'R0lGODlh']
const TEXT = ['Content-Type: text/plain', '', 'A body.']

/** Nesting, boundaries and parts. */
export const ODD_STRUCTURES: readonly OddMail[] = [
  oddBody('a preamble and an epilogue', [MIXED], ['Before.', '--b', ...TEXT, '--b--', 'After.'], {
    text: 'A body.',
    files: [],
  }),
  oddBody('no closing delimiter', [MIXED], ['--b', ...TEXT, '--b', ...GIF], { text: 'A body.', files: ['a.gif'] }),
  oddBody('no delimiter at all', [MIXED], ['Just words.'], {}),
  oddBody('no boundary parameter', ['Content-Type: multipart/mixed'], ['--b', ...TEXT, '--b--'], {}),
  oddBody('an empty boundary', ['Content-Type: multipart/mixed; boundary=""'], ['--', ...TEXT, '----'], {}),
  oddBody(
    'a boundary with blanks and signs',
    [`Content-Type: multipart/mixed; boundary="a b'()+_,-./:=?"`],
    ["--a b'()+_,-./:=?", ...TEXT, "--a b'()+_,-./:=?", ...GIF, "--a b'()+_,-./:=?--"],
    { text: 'A body.', files: ['a.gif'] },
  ),
  oddBody(
    'a boundary that begins another',
    ['Content-Type: multipart/mixed; boundary=b'],
    ['--b', 'Content-Type: multipart/mixed; boundary=bb', '', '--bb', ...TEXT, '--bb--', '--b', ...GIF, '--b--'],
    { text: 'A body.', files: ['a.gif'] },
  ),
  oddBody('the same boundary at two levels', [MIXED], ['--b', MIXED, '', '--b', ...TEXT, '--b--', '--b--'], {
    text: 'A body.',
  }),
  oddBody('blanks behind the delimiters', [MIXED], ['--b  \t', ...TEXT, '--b  ', ...GIF, '--b--  '], {
    text: 'A body.',
    files: ['a.gif'],
  }),
  oddBody('a delimiter within a line', [MIXED], ['--b', 'Content-Type: text/plain', '', 'see --b here', '--b--'], {
    text: 'see --b here',
  }),
  oddBody(
    'a boundary of 70 characters',
    [`Content-Type: multipart/mixed; boundary=${'b'.repeat(70)}`],
    [`--${'b'.repeat(70)}`, ...TEXT, `--${'b'.repeat(70)}--`],
    { text: 'A body.' },
  ),
  oddBody(
    'a boundary of 200 characters',
    [`Content-Type: multipart/mixed; boundary=${'b'.repeat(200)}`],
    [`--${'b'.repeat(200)}`, ...TEXT, `--${'b'.repeat(200)}--`],
    { text: 'A body.' },
  ),
  oddBody(
    'a boundary in raw UTF-8',
    [`Content-Type: multipart/mixed; boundary="${utf8('ü')}"`],
    [`--${utf8('ü')}`, ...TEXT, `--${utf8('ü')}--`],
    {},
  ),
  oddBody('a folded Content-Type', ['Content-Type: multipart/mixed;', '\tboundary="b"'], ['--b', ...TEXT, '--b--'], {
    text: 'A body.',
  }),
  oddBody('a part without a header', [MIXED], ['--b', '', 'A body.', '--b--'], { text: 'A body.' }),
  oddBody('parts without content', [MIXED], ['--b', '--b', '', '--b', ...TEXT, '--b--'], { text: 'A body.' }),
  oddBody(
    'text after the closing delimiter that looks like a part',
    [MIXED],
    ['--b', ...TEXT, '--b--', '--b', ...GIF],
    {
      text: 'A body.',
    },
  ),
  odd('twenty levels of nesting', [...HEAD, 'Subject: Deep', ...nested(20), ...TEXT], { text: 'A body.', files: [] }),
  odd('a thousand levels of nesting', [...HEAD, 'Subject: Deep', ...nested(1_000), ...TEXT], { subject: 'Deep' }),
  oddBody(
    'a hundred parts',
    [MIXED],
    [
      '--b',
      ...TEXT,
      ...Array.from({ length: 29 }, (_, i) => ['--b', `Content-Type: a/b; name=${i}.bin`, '', `${i}`]).flat(),
      '--b--',
    ],
    { text: 'A body.', files: Array.from({ length: 29 }, (_, i) => `${i}.bin`) },
  ),
  oddBody(
    'alternatives in the wrong order',
    ['Content-Type: multipart/alternative; boundary=b'],
    ['--b', 'Content-Type: text/html', '', '<p>As html.', '--b', 'Content-Type: text/plain', '', 'As text.', '--b--'],
    { text: 'As text.', html: 'As html.', files: [] },
  ),
  oddBody(
    'alternatives with a calendar',
    ['Content-Type: multipart/alternative; boundary=b'],
    [
      '--b',
      ...TEXT,
      '--b',
      'Content-Type: text/calendar; method=REQUEST; charset=utf-8',
      '',
      'BEGIN:VCALENDAR',
      'END:VCALENDAR',
      '--b--',
    ],
    { text: 'A body.', type: 'text/calendar' },
  ),
  oddBody(
    'a related part that is named as the root',
    ['Content-Type: multipart/related; boundary=b; start="<r@x>"'],
    ['--b', ...GIF, '--b', 'Content-Type: text/html', 'Content-ID: <r@x>', '', '<p>Root.', '--b--'],
    { html: 'Root.', files: ['a.gif'] },
  ),
  oddBody('two texts around a file', [MIXED], ['--b', ...TEXT, '--b', ...GIF, '--b', '', 'And more.', '--b--'], {
    text: 'And more.',
    files: ['a.gif'],
  }),
  oddBody(
    'a multipart of an unknown subtype',
    ['Content-Type: multipart/x-strange; boundary=b'],
    ['--b', ...TEXT, '--b--'],
    { text: 'A body.' },
  ),
  oddBody(
    'a digest, whose parts are mails',
    ['Content-Type: multipart/digest; boundary=b'],
    ['--b', '', 'Subject: Inner', '', 'Inner words.', '--b--'],
    {},
  ),
  oddBody(
    'a multipart that is encoded in base64',
    [MIXED, 'Content-Transfer-Encoding: base64'],
    ['--b', ...TEXT, '--b--'],
    { text: 'A body.' },
  ),
  oddBody('a Content-Type of one word', ['Content-Type: text'], ['A body.'], { text: 'A body.' }),
  oddBody('an empty Content-Type', ['Content-Type:'], ['A body.'], { text: 'A body.' }),
  oddBody('a Content-Type of signs', ['Content-Type: ;;;=/"'], ['A body.'], {}),
  oddBody('two Content-Types', ['Content-Type: text/plain', 'Content-Type: text/html'], ['<p>Which?'], {}),
  oddBody('parameters without an end', [`Content-Type: text/plain; ${'a=b; '.repeat(2_000)}`], ['A body.'], {}),
  odd('no MIME-Version', [...HEAD, 'Subject: Old', MIXED, '', '--b', ...TEXT, '--b', ...GIF, '--b--'], {
    text: 'A body.',
    files: ['a.gif'],
  }),
  odd('a MIME-Version of another kind', [...HEAD, 'MIME-Version: 2.0 (new)', 'Subject: New', '', 'A body.'], {
    text: 'A body.',
  }),
  oddBody('html with a script and an open comment', ['Content-Type: text/html'], ['<script>x</script><p>Seen<!-- '], {
    html: 'Seen',
  }),
  oddBody(
    'html in base64 inside a related part',
    ['Content-Type: multipart/related; boundary=b'],
    [
      '--b',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      base64('<p>Grüße</p>'),
      '--b--',
    ],
    { html: 'Grüße' },
  ),
]

function nested(levels: number): string[] {
  return Array.from({ length: levels }, (_, level) => [
    `Content-Type: multipart/mixed; boundary=b${level}`,
    '',
    `--b${level}`,
  ]).flat()
}
