import { HEAD, type OddMail, odd, oddText, utf8 } from './odd-mail.ts'

const FROM = 'From: Eve <eve@evil.test>'

/** Headers that are missing, repeated, broken or in raw bytes. */
export const ODD_HEADERS: readonly OddMail[] = [
  odd('no header at all', ['', 'Just words.'], { subject: null, from: '(no sender)', text: 'Just words.' }),
  odd('a header without a body or an empty line', [...HEAD, 'Subject: Only a header'], { subject: 'Only a header' }),
  odd('an empty body', [...HEAD, 'Subject: Nothing', ''], { subject: 'Nothing', files: [] }),
  odd('no Subject', [FROM, '', 'A body.'], { subject: null, from: 'Eve <eve@evil.test>', text: 'A body.' }),
  odd('no From', ['To: Ada <ada@mail.test>', 'Subject: Whose?', '', 'A body.'], {
    subject: 'Whose?',
    from: '(no sender)',
  }),
  odd('an empty From', ['From:', 'Subject: Whose?', '', 'A body.'], { subject: 'Whose?', from: '(no sender)' }),
  odd('an empty Subject', [...HEAD, 'Subject:', '', 'A body.'], { subject: null, text: 'A body.' }),
  odd('a Subject of blanks', [...HEAD, 'Subject:    \t  ', '', 'A body.'], { subject: null }),
  oddText('no blank after the colon', ['Subject:Close'], { subject: 'Close' }),
  oddText('many blanks after the colon', ['Subject: \t   Far'], { subject: 'Far' }),
  oddText('a blank before the colon (RFC 5322 4.5.8)', ['Subject : Obsolete'], { subject: 'Obsolete' }),
  oddText('names in capitals', ['SUBJECT: Loud'], { subject: 'Loud' }),
  oddText('names in mixed case', ['sUbJeCt: Mixed'], { subject: 'Mixed' }),
  oddText('a folded Subject', ['Subject: One', ' two', '\tthree'], { subject: 'One two three' }),
  oddText('a Subject that begins on the next line', ['Subject:', ' Late'], { subject: 'Late' }),
  oddText('a fold of blanks only (RFC 5322 4.2)', ['Subject: One', '   ', ' two'], {}),
  oddText('a Subject twice', ['Subject: First', 'Subject: Second'], { subject: 'First' }),
  oddText('a tab within a Subject', ['Subject: a\tb'], { subject: 'a b' }),
  oddText('an escape sequence in a Subject', ['Subject: a\x1b[31mred'], {}),
  oddText('a Subject in raw UTF-8', [`Subject: ${utf8('Grüße 🎉')}`], { subject: 'Grüße 🎉' }),
  oddText('a Subject in raw Latin-1', ['Subject: Gr\xfc\xdfe'], { subject: 'Grüße' }),
  oddText('a Subject of a single byte that is no UTF-8', ['Subject: \xff'], {}),
  oddText('a Subject with a surrogate in UTF-8 (CESU)', ['Subject: \xed\xa0\xbd\xed\xb8\x80 x'], {}),
  oddText('a Subject of 998 characters', [`Subject: ${'s'.repeat(989)}`], { subject: 's'.repeat(989) }),
  oddText('a field without a name', [': nothing', 'Subject: After'], { subject: 'After' }),
  oddText('a line that is no field', ['this is no field', 'Subject: After'], { subject: 'After' }),
  oddText('a field name with blanks', ['Strange name: x', 'Subject: After'], { subject: 'After' }),
  oddText('a field name in raw UTF-8', [`${utf8('X-Grüße')}: x`, 'Subject: After'], { subject: 'After' }),
  odd('a line of an mbox file at the start', ['From eve@evil.test Mon Nov 23 2026', ...HEAD, 'Subject: Box', '', 'x'], {
    subject: 'Box',
    from: 'Eve <eve@evil.test>',
  }),
  odd('a quoted line of an mbox file', ['>From eve@evil.test Mon Nov 23 2026', ...HEAD, 'Subject: Box', '', 'x'], {
    subject: 'Box',
  }),
  odd('a folded line at the start', [' x', ...HEAD, 'Subject: After', '', 'x'], { subject: 'After' }),
  odd('a second header below the first', [...HEAD, 'Subject: Upper', '', 'Subject: Lower', '', 'x'], {
    subject: 'Upper',
    text: 'Subject: Lower',
  }),
  oddText('a header named like a member of objects', ['__proto__: x', 'constructor: y', 'Subject: Safe'], {
    subject: 'Safe',
  }),
  oddText('a Date that is none', ['Date: yesterday, or so', 'Subject: Date'], { subject: 'Date' }),
  oddText('a Date in the year 9999', ['Date: Fri, 31 Dec 9999 23:59:59 +0000', 'Subject: Late'], { subject: 'Late' }),
  oddText('a Date in the year 1', ['Date: Mon, 1 Jan 0001 00:00:00 +0000', 'Subject: Early'], { subject: 'Early' }),
  oddText('a Date of two digits and a military zone', ['Date: 1 Mar 26 09:10 Z', 'Subject: Short'], {
    subject: 'Short',
  }),
  oddText('results that claim to be ours', ['Authentication-Results: mx.mail.test; dmarc=pass', 'Subject: Claim'], {
    subject: 'Claim',
  }),
  oddText('three hundred fields of one name', [...Array(300).fill('X-Same: value'), 'Subject: Behind'], {
    subject: 'Behind',
  }),
  oddText('a directional override in the Subject', [`Subject: ${utf8('invoice \u202egpj.exe')}`], {
    subject: 'invoice gpj.exe',
  }),
]

/** Odd authors and recipients. */
export const ODD_ADDRESSES: readonly OddMail[] = [
  odd('a bare address', ['From: eve@evil.test', 'Subject: Bare', '', 'x'], { from: 'eve@evil.test' }),
  odd('an address in brackets only', ['From: <eve@evil.test>', 'Subject: Brackets', '', 'x'], {
    from: 'eve@evil.test',
  }),
  odd('a name behind the address, as a comment', ['From: eve@evil.test (Eve)', 'Subject: Comment', '', 'x'], {
    from: 'Eve <eve@evil.test>',
  }),
  odd('a quoted name with a comma', ['From: "Ray, Eve" <eve@evil.test>', 'Subject: Comma', '', 'x'], {
    from: '"Ray, Eve" <eve@evil.test>',
  }),
  odd('a quoted name with escapes', ['From: "Eve \\"the cat\\" Ray" <eve@evil.test>', 'Subject: Quotes', '', 'x'], {
    from: '"Eve \\"the cat\\" Ray" <eve@evil.test>',
  }),
  odd('a quoted local part', ['From: "eve ray"@evil.test', 'Subject: Local', '', 'x'], {}),
  odd('a name in raw UTF-8', [`From: ${utf8('Ève Größe')} <eve@evil.test>`, 'Subject: Raw', '', 'x'], {
    from: 'Ève Größe <eve@evil.test>',
  }),
  odd('a name in raw Latin-1', ['From: \xc8ve <eve@evil.test>', 'Subject: Raw', '', 'x'], {
    from: 'Ève <eve@evil.test>',
  }),
  odd('an encoded name', ['From: =?utf-8?q?=C3=88ve?= <eve@evil.test>', 'Subject: Encoded', '', 'x'], {
    from: 'Ève <eve@evil.test>',
  }),
  odd('an encoded name in quotes', ['From: "=?utf-8?q?=C3=88ve?=" <eve@evil.test>', 'Subject: Quoted', '', 'x'], {
    from: 'Ève <eve@evil.test>',
  }),
  odd('a name that imitates an address', ['From: "ceo@bank.test" <eve@evil.test>', 'Subject: Imitation', '', 'x'], {
    from: '"ceo@bank.test" <eve@evil.test>',
  }),
  odd('an encoded line break in a name', ['From: =?utf-8?q?Eve=0D=0ABcc:_x?= <eve@evil.test>', '', 'x'], {
    subject: null,
  }),
  odd('two authors', ['From: Eve <eve@evil.test>, Bo <bo@evil.test>', 'Subject: Two', '', 'x'], { subject: 'Two' }),
  odd('From twice', ['From: Eve <eve@evil.test>', 'From: Bo <bo@evil.test>', 'Subject: Twice', '', 'x'], {
    subject: 'Twice',
  }),
  odd('a group as the author', ['From: Team: eve@evil.test, bo@evil.test;', 'Subject: Group', '', 'x'], {
    subject: 'Group',
  }),
  odd('a nested comment', ['From: Eve (a (b) c) <eve@evil.test>', 'Subject: Comments', '', 'x'], {
    subject: 'Comments',
  }),
  odd('an unclosed comment', ['From: Eve (a <eve@evil.test>', 'Subject: Unclosed', '', 'x'], { subject: 'Unclosed' }),
  odd('an unclosed quote', ['From: "Eve <eve@evil.test>', 'Subject: Unclosed', '', 'x'], { subject: 'Unclosed' }),
  odd('an unclosed bracket', ['From: Eve <eve@evil.test', 'Subject: Unclosed', '', 'x'], { subject: 'Unclosed' }),
  odd('a route in the address (RFC 5322 4.4)', ['From: Eve <@a.test,@b.test:eve@evil.test>', 'Subject: R', '', 'x'], {
    subject: 'R',
  }),
  odd('an address without a domain', ['From: root', 'Subject: Local', '', 'x'], { subject: 'Local' }),
  odd('an address of an internationalized domain', [`From: eve@${utf8('bücher')}.test`, 'Subject: IDN', '', 'x'], {
    subject: 'IDN',
  }),
  odd('undisclosed recipients', [FROM, 'To: undisclosed-recipients:;', 'Subject: Hidden', '', 'x'], {
    subject: 'Hidden',
    to: [],
  }),
  odd('a group of recipients', [FROM, 'To: Team: ada@mail.test, Bo <bo@x.test>;', 'Subject: Group', '', 'x'], {
    to: ['ada@mail.test', 'Bo <bo@x.test>'],
  }),
  odd('empty entries among the recipients', [FROM, 'To: ,, ada@mail.test,, bo@x.test,', 'Subject: Gaps', '', 'x'], {
    to: ['ada@mail.test', 'bo@x.test'],
  }),
  odd('recipients separated by semicolons', [FROM, 'To: ada@mail.test; bo@x.test', 'Subject: Semicolons', '', 'x'], {
    subject: 'Semicolons',
  }),
  odd('To twice', [FROM, 'To: ada@mail.test', 'To: bo@x.test', 'Subject: Twice', '', 'x'], {
    to: ['ada@mail.test', 'bo@x.test'],
  }),
  odd('no recipients', [FROM, 'Subject: Nobody', '', 'x'], { subject: 'Nobody', to: [] }),
]

/** Message ids and references that nobody should send. */
export const ODD_IDS: readonly OddMail[] = [
  oddText('a Message-ID without brackets', ['Message-ID: bare@evil.test', 'Subject: Bare'], { subject: 'Bare' }),
  oddText('an empty Message-ID', ['Message-ID:', 'Subject: Empty'], { subject: 'Empty' }),
  oddText('a Message-ID of brackets', ['Message-ID: <>', 'Subject: Brackets'], { subject: 'Brackets' }),
  oddText('a Message-ID with blanks', ['Message-ID: <a b @evil.test>', 'Subject: Blanks'], { subject: 'Blanks' }),
  oddText('a Message-ID with a slash and a percent sign', ['Message-ID: <a/b%2F?c#d@evil.test>', 'Subject: URL'], {
    subject: 'URL',
  }),
  oddText('a Message-ID in raw UTF-8', [`Message-ID: <${utf8('ü')}@evil.test>`, 'Subject: Raw'], { subject: 'Raw' }),
  oddText('a Message-ID of 900 characters', [`Message-ID: <${'m'.repeat(900)}@evil.test>`, 'Subject: Long'], {
    subject: 'Long',
  }),
  oddText('Message-ID twice', ['Message-ID: <one@evil.test>', 'Message-ID: <two@evil.test>', 'Subject: Twice'], {
    subject: 'Twice',
  }),
  oddText('a folded Message-ID', ['Message-ID:', ' <folded@evil.test>', 'Subject: Folded'], { subject: 'Folded' }),
  oddText(
    'a mail that answers itself',
    ['Message-ID: <self@evil.test>', 'In-Reply-To: <self@evil.test>', 'Subject: S'],
    {
      subject: 'S',
    },
  ),
  oddText('words in In-Reply-To', ['In-Reply-To: Your mail of Monday <words@evil.test>', 'Subject: Words'], {
    subject: 'Words',
  }),
  oddText('two thousand references', [`References: ${refs(2_000).join('\r\n ')}`, 'Subject: History'], {
    subject: 'History',
  }),
  oddText('references without separators', [`References: ${refs(50).join('')}`, 'Subject: Close'], {
    subject: 'Close',
  }),
  oddText('references separated by commas', [`References: ${refs(5).join(', ')}`, 'Subject: Commas'], {
    subject: 'Commas',
  }),
  oddText('an unclosed reference', ['References: <a@x.test> <b@x.test', 'Subject: Unclosed'], { subject: 'Unclosed' }),
]

function refs(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `<${index}@evil.test>`)
}
