import { base64, type OddMail, oddBody, oddText, utf8 } from './odd-mail.ts'

/** Encoded words (RFC 2047), right and wrong. */
export const ODD_WORDS: readonly OddMail[] = [
  oddText('base64 in capitals', [`Subject: =?UTF-8?B?${base64('Grüße')}?=`], { subject: 'Grüße' }),
  oddText('a Q word with underscores', ['Subject: =?iso-8859-1?q?Gr=FC=DFe_an_alle?='], { subject: 'Grüße an alle' }),
  oddText('a character across two words', ['Subject: =?utf-8?b?8J+O?= =?utf-8?b?iQ==?='], { subject: '🎉' }),
  oddText('blanks between words that vanish', ['Subject: =?utf-8?q?a?=  =?utf-8?q?b?='], { subject: 'ab' }),
  oddText('a fold between words that vanishes', ['Subject: =?utf-8?q?a?=', ' =?utf-8?q?b?='], { subject: 'ab' }),
  oddText('text between words', ['Subject: =?utf-8?q?a?= and =?utf-8?q?b?='], { subject: 'a and b' }),
  oddText('words without a blank between them', ['Subject: =?utf-8?q?a?==?utf-8?q?b?='], { subject: 'ab' }),
  oddText('a language (RFC 2231 5)', ['Subject: =?utf-8*en?q?hello?='], { subject: 'hello' }),
  oddText('raw blanks within a Q word', ['Subject: =?utf-8?q?a b c?='], { subject: 'a b c' }),
  oddText('base64 without its padding', [`Subject: =?utf-8?b?${base64('Grüß').replace(/=+$/, '')}?=`], {
    subject: 'Grüß',
  }),
  oddText('an unknown charset in a word', ['Subject: =?x-nothing?q?plain?='], {}),
  oddText('an unknown encoding', ['Subject: =?utf-8?x?abc?='], { subject: '=?utf-8?x?abc?=' }),
  oddText('a word that never ends', ['Subject: =?utf-8?q?open'], { subject: '=?utf-8?q?open' }),
  oddText('an empty word', ['Subject: =?utf-8?q??= rest'], {}),
  oddText('a NUL in a word', ['Subject: a=?utf-8?q?=00?=b'], {}),
  oddText('half a surrogate in a word', ['Subject: =?utf-16be?b?2AA=?= x'], {}),
  oddText('KOI8-R', ['Subject: =?koi8-r?b?8NLJ18XU?='], { subject: 'Привет' }),
  oddText('ISO-2022-JP in a word', ['Subject: =?iso-2022-jp?b?GyRCRnxLXBsoQg==?='], { subject: '日本' }),
  oddText('Shift JIS', ['Subject: =?shift_jis?b?k/qWew==?='], { subject: '日本' }),
  oddText('GB 18030', ['Subject: =?gb18030?b?1tDOxA==?='], { subject: '中文' }),
  oddText('Big5', ['Subject: =?big5?b?pKSk5Q==?='], { subject: '中文' }),
  oddText('EUC-KR', ['Subject: =?euc-kr?b?x9Gx2w==?='], { subject: '한글' }),
  oddText('Windows-1252 under the name of Latin-1', ['Subject: =?iso-8859-1?q?=93quoted=94?='], {
    subject: '“quoted”',
  }),
  oddText('an encoded line break in a Subject', ['Subject: =?utf-8?q?a=0D=0AX-Evil:_1?='], { subject: 'a X-Evil: 1' }),
]

const CP437 = 'Content-Type: text/plain; charset=cp437'

/** Bodies in odd charsets. */
export const ODD_CHARSETS: readonly OddMail[] = [
  oddBody('UTF-8 without a charset', ['Content-Transfer-Encoding: 8bit'], [utf8('Grüße 🎉')], { text: 'Grüße 🎉' }),
  oddBody('Latin-1 without a charset', ['Content-Transfer-Encoding: 8bit'], ['Gr\xfc\xdfe'], { text: 'Grüße' }),
  oddBody('UTF-8 declared as US-ASCII', ['Content-Type: text/plain; charset=us-ascii'], [utf8('Grüße')], {
    text: 'Grüße',
  }),
  oddBody('Latin-1', ['Content-Type: text/plain; charset=iso-8859-1'], ['Gr\xfc\xdfe'], { text: 'Grüße' }),
  oddBody('a charset in quotes and capitals', ['Content-Type: TEXT/PLAIN; CHARSET="ISO-8859-15"'], ['5 \xa4'], {
    text: '5 €',
  }),
  oddBody('an unknown charset', ['Content-Type: text/plain; charset=x-nothing'], ['plain words'], {
    text: 'plain words',
  }),
  oddBody('an empty charset', ['Content-Type: text/plain; charset='], ['plain words'], { text: 'plain words' }),
  oddBody('an old charset of DOS', [CP437], ['plain \x81 words'], { text: 'words' }),
  oddBody(
    'UTF-16 with a byte order mark',
    ['Content-Type: text/plain; charset=utf-16', 'Content-Transfer-Encoding: base64'],
    [Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Grüße', 'utf16le')]).toString('base64')],
    { text: 'Grüße' },
  ),
  oddBody(
    'UTF-16 in big-endian order',
    ['Content-Type: text/plain; charset=utf-16be', 'Content-Transfer-Encoding: base64'],
    [Buffer.from('Grüße', 'utf16le').swap16().toString('base64')],
    { text: 'Grüße' },
  ),
  oddBody('UTF-7, which no browser decodes', ['Content-Type: text/plain; charset=utf-7'], ['Gr+APwA3w-e'], {
    text: 'Gr+APwA3w-e',
  }),
  oddBody('ISO-2022-JP', ['Content-Type: text/plain; charset=iso-2022-jp'], ['\x1b$BF|K\\\x1b(B'], { text: '日本' }),
  oddBody('a byte order mark of UTF-8', ['Content-Type: text/plain; charset=utf-8'], ['\xef\xbb\xbfwords'], {
    text: 'words',
  }),
  oddBody('bytes that are no UTF-8', ['Content-Type: text/plain; charset=utf-8'], ['a\xc3(b'], {}),
  oddBody('a NUL in the text', ['Content-Type: text/plain; charset=utf-8'], ['a\0b'], { text: 'ab' }),
  oddBody(
    'html that names another charset than its header',
    ['Content-Type: text/html; charset=utf-8'],
    [`<meta charset=iso-8859-1><p>${utf8('Grüße')}`],
    { html: 'Grüße' },
  ),
]

const QP = 'Content-Transfer-Encoding: quoted-printable'
const B64 = 'Content-Transfer-Encoding: base64'

/** Transfer encodings that are wrong, unusual or contradict the body. */
export const ODD_TRANSFERS: readonly OddMail[] = [
  oddBody('quoted-printable in small letters', [QP], ['Gr=c3=bc=c3=9fe'], { text: 'Grüße' }),
  oddBody('a soft break at the end of the body', [QP], ['words='], { text: 'words' }),
  oddBody('blanks behind a soft break', [QP], ['wo=  ', 'rds'], { text: 'words' }),
  oddBody('an equals sign that encodes nothing', [QP], ['a=b =XY 1 = 2'], { text: 'a=b =XY 1 = 2' }),
  oddBody('a line of quoted-printable that is far too long', [QP], ['x'.repeat(5_000)], { text: 'x'.repeat(5_000) }),
  oddBody('raw bytes in quoted-printable', [QP], [utf8('Grüße')], { text: 'Grüße' }),
  oddBody('base64 in one endless line', [B64], [base64('word '.repeat(2_000))], { text: 'word word' }),
  oddBody('base64 without padding', [B64], [base64('Grüß').replace(/=+$/, '')], { text: 'Grüß' }),
  oddBody('base64 with blanks within', [B64], ['d29 y ZHM ='], { text: 'words' }),
  oddBody('base64 with characters that are none', [B64], ['d2*9y_ZH*M='], {}),
  oddBody('base64 that is padded in its middle', [B64], [`${base64('one')}`, base64('a'), base64('two')], {
    text: 'one',
  }),
  oddBody('text behind base64', [B64], [base64('words'), '', '-- ', 'A list added this.'], { text: 'words' }),
  oddBody('base64 that is plain text', [B64], ['Hello, this was never encoded.'], {}),
  oddBody('an unknown transfer encoding', ['Content-Transfer-Encoding: x-strange'], ['words'], {}),
  oddBody(
    'an encoding in quotes and with a comment',
    ['Content-Transfer-Encoding: "base64" (yes)'],
    [base64('words')],
    {},
  ),
  oddBody('uuencode', ['Content-Transfer-Encoding: x-uuencode'], ['begin 644 a.txt', "%=V]R9',", '`', 'end'], {}),
  oddBody('binary bytes declared as 7bit', ['Content-Transfer-Encoding: 7bit'], ['\x01\x02\x7f\xfe words'], {
    text: 'words',
  }),
  oddBody('two transfer encodings', [B64, 'Content-Transfer-Encoding: 7bit'], [base64('words')], {}),
  oddBody('flowed text', ['Content-Type: text/plain; format=flowed'], ['one ', 'two', '', 'three'], {
    text: 'one two',
  }),
  oddBody('lines that begin with dots', [], ['.', '..', '...x', '.y'], { text: '...x' }),
  oddBody('a line that begins with From', [], ['From here on, words.'], { text: 'From here on, words.' }),
  oddBody('form feeds and vertical tabs', [], ['a\x0cb\x0bc'], {}),
  oddBody('a line of 50,000 characters', [], ['z'.repeat(50_000)], { text: 'z'.repeat(50_000) }),
]
