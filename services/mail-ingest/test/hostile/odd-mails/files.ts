import { base64, type OddMail, oddFile, utf8 } from './odd-mail.ts'

const TYPE = 'Content-Type: application/octet-stream'
const named = (name: string): string[] => [TYPE, `Content-Disposition: attachment; ${name}`]
const B64 = 'Content-Transfer-Encoding: base64'

/** File names: RFC 2231 and what is sent instead of it. */
export const ODD_NAMES: readonly OddMail[] = [
  oddFile('a plain name', named('filename=a.txt'), ['x'], { files: ['a.txt'] }),
  oddFile('a name in quotes with escapes', named('filename="a \\"b\\".txt"'), ['x'], { files: ['a "b".txt'] }),
  oddFile('a name with blanks and no quotes', named('filename=my file.txt'), ['x'], {}),
  oddFile('an extended name (RFC 2231 4)', named("filename*=utf-8'de'Gr%C3%BC%C3%9Fe.txt"), ['x'], {
    files: ['Grüße.txt'],
  }),
  oddFile('an extended name in Latin-1', named("filename*=iso-8859-1''Gr%FC%DFe.txt"), ['x'], {
    files: ['Grüße.txt'],
  }),
  oddFile(
    'an extended name beside a plain one',
    named("filename=plain.txt; filename*=utf-8''gr%C3%BC%C3%9F.txt"),
    ['x'],
    {
      files: ['grüß.txt'],
    },
  ),
  oddFile('an extended name with no charset', named("filename*=''plain.txt"), ['x'], { files: ['plain.txt'] }),
  oddFile('an extended name of an unknown charset', named("filename*=x-none''plain.txt"), ['x'], {}),
  oddFile('an extended name with broken escapes', named("filename*=utf-8''a%zz%C3%.txt"), ['x'], {}),
  oddFile('a name in pieces (RFC 2231 3)', named('filename*0=one-; filename*1=two-; filename*2=three.txt'), ['x'], {
    files: ['one-two-three.txt'],
  }),
  oddFile('a name in pieces in the wrong order', named('filename*1=two.txt; filename*0=one-'), ['x'], {
    files: ['one-two.txt'],
  }),
  oddFile('a name in pieces with a gap', named('filename*0=one; filename*2=three.txt'), ['x'], {}),
  oddFile(
    'an extended name in pieces',
    named("filename*0*=utf-8''Gr%C3%BC; filename*1*=%C3%9Fe; filename*2=.txt"),
    ['x'],
    { files: ['Grüße.txt'] },
  ),
  oddFile('a character across two pieces', named("filename*0*=utf-8''gr%C3; filename*1*=%BC.txt"), ['x'], {
    files: ['grü.txt'],
  }),
  oddFile('a thousand pieces', named(Array.from({ length: 1_000 }, (_, i) => `filename*${i}=a`).join(';')), ['x'], {}),
  oddFile('an encoded word as a name', named('filename="=?utf-8?q?Gr=C3=BC=C3=9Fe=2Etxt?="'), ['x'], {
    files: ['Grüße.txt'],
  }),
  oddFile(
    'encoded words in a folded name',
    named('filename="=?utf-8?q?Gr=C3=BC?=\r\n =?utf-8?q?=C3=9Fe.txt?="'),
    ['x'],
    {
      files: ['Grüße.txt'],
    },
  ),
  oddFile('a file name in raw UTF-8', named(`filename="${utf8('Grüße.txt')}"`), ['x'], { files: ['Grüße.txt'] }),
  oddFile('a file name in raw Latin-1', named('filename="Gr\xfc\xdfe.txt"'), ['x'], { files: ['Grüße.txt'] }),
  oddFile('a path of UNIX', named('filename="/etc/../passwd"'), ['x'], { files: ['passwd'] }),
  oddFile('a path of Windows', named('filename="C:\\\\temp\\\\a.txt"'), ['x'], { files: ['a.txt'] }),
  oddFile('a path in an encoded name', named("filename*=utf-8''..%2F..%2Fpasswd"), ['x'], { files: ['passwd'] }),
  oddFile('a name of dots', named('filename=".."'), ['x'], {}),
  oddFile('an empty name', named('filename=""'), ['x'], { files: ['(application/octet-stream)'] }),
  oddFile('no name', [TYPE, 'Content-Disposition: attachment'], ['x'], { files: ['(application/octet-stream)'] }),
  oddFile('a name of 5,000 characters', named(`filename="${'n'.repeat(5_000)}.txt"`), ['x'], {}),
  oddFile('a directional override in a name', named(`filename="${utf8('a\u202egpj.exe')}"`), ['x'], {
    files: ['agpj.exe'],
  }),
  oddFile('a line break in an encoded name', named("filename*=utf-8''a%0D%0Ab.txt"), ['x'], {}),
  oddFile('a NUL in an encoded name', named("filename*=utf-8''a%00b.txt"), ['x'], {}),
  oddFile('a semicolon in a quoted name', named('filename="a;b.txt"'), ['x'], { files: ['a;b.txt'] }),
  oddFile('a name of the type only', ['Content-Type: image/gif; name="=?utf-8?b?Z3LDvC5naWY=?="'], ['x'], {
    files: ['grü.gif'],
  }),
  oddFile(
    'two different names',
    ['Content-Type: image/gif; name=type.gif', ...named('filename=file.gif').slice(1)],
    ['x'],
    {
      files: ['file.gif'],
    },
  ),
  oddFile('two names of one kind', named('filename=one.txt; filename=two.txt'), ['x'], {}),
  oddFile('a disposition in capitals', [TYPE, 'CONTENT-DISPOSITION: ATTACHMENT; FILENAME=A.TXT'], ['x'], {
    files: ['A.TXT'],
  }),
  oddFile('a disposition of an unknown kind', [TYPE, 'Content-Disposition: strange; filename=a.txt'], ['x'], {
    files: ['a.txt'],
  }),
  oddFile('a name without a disposition', [TYPE, 'Content-Disposition: filename=a.txt'], ['x'], {}),
  oddFile('text as an attachment', ['Content-Type: text/plain', 'Content-Disposition: attachment'], ['x'], {
    text: 'A body.',
    files: ['(text/plain)'],
  }),
  oddFile('a named text shown inline', ['Content-Type: text/plain; name=a.txt', 'Content-Disposition: inline'], ['x'], {
    files: ['a.txt'],
  }),
]

/** The contents of attachments. */
export const ODD_CONTENTS: readonly OddMail[] = [
  oddFile('all bytes there are', [...named('filename=all.bin'), B64], [allBytes().toString('base64')], {
    content: allBytes().toString('latin1'),
  }),
  oddFile('an attachment of no bytes', [...named('filename=none.bin'), B64], [], { files: ['none.bin'], content: '' }),
  oddFile('an attachment of one byte', [...named('filename=one.bin'), B64], ['AA=='], { content: '\0' }),
  oddFile(
    'an attachment in 8bit',
    [...named('filename=raw.bin'), 'Content-Transfer-Encoding: 8bit'],
    ['\x80\xff\x00'],
    {
      content: '\x80\xff\x00',
    },
  ),
  oddFile(
    'an attachment in quoted-printable',
    [...named('filename=q.bin'), 'Content-Transfer-Encoding: quoted-printable'],
    ['=00=FF=', 'x'],
    {
      content: '\x00\xffx',
    },
  ),
  oddFile('an attachment in base64 with noise', [...named('filename=n.bin'), B64], ['*d29*y', '!ZHM=!'], {
    content: 'words',
  }),
  oddFile('an attachment in base64 that was cut off', [...named('filename=cut.bin'), B64], ['d29yZ'], {
    files: ['cut.bin'],
  }),
  oddFile(
    'a uuencoded attachment',
    [...named('filename=u.bin'), 'Content-Transfer-Encoding: x-uuencode'],
    ['begin 644 u.bin', "%=V]R9',", '`', 'end'],
    { content: 'words' },
  ),
  oddFile('an attachment with dots at the start of lines', named('filename=dots.txt'), ['.', '..x', '.'], {
    content: '.\r\n..x\r\n.',
  }),
  oddFile(
    'an attachment that looks like mail',
    ['Content-Type: text/rfc822-headers', 'Content-Disposition: inline'],
    ['Subject: Inner'],
    { files: ['(text/rfc822-headers)'] },
  ),
  oddFile('an attachment of base64 within base64', [...named('filename=twice.bin'), B64], [base64(base64('words'))], {
    content: base64('words'),
  }),
  oddFile('an attachment of 300 KB', [...named('filename=large.bin'), B64], lines(Buffer.alloc(300_000, 'abc')), {
    content: Buffer.alloc(300_000, 'abc').toString('latin1'),
  }),
]

function allBytes(): Buffer {
  return Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
}

function lines(content: Buffer): string[] {
  return content.toString('base64').match(/.{1,76}/g) ?? []
}
