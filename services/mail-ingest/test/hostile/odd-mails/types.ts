import { base64, HEAD, type OddMail, odd, oddBody, oddFile } from './odd-mail.ts'

const B64 = 'Content-Transfer-Encoding: base64'
const INNER = ['From: Bo <bo@x.test>', 'Subject: Inner', 'MIME-Version: 1.0', '', 'Inner words.']
const CALENDAR = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:1@x.test',
  'END:VEVENT',
  'END:VCALENDAR',
]

/** A TNEF stream (MS-OXTNEF): signature, key, and one attribute of this content. */
function tnef(content: Buffer): Buffer {
  const head = Buffer.from('789f3e22010001', 'hex')
  const attribute = Buffer.alloc(4 + 4)
  attribute.writeUInt32LE(0x00068008)
  attribute.writeUInt32LE(content.length, 4)
  const sum = Buffer.alloc(2)
  sum.writeUInt16LE(content.reduce((all, byte) => (all + byte) & 0xffff, 0))
  return Buffer.concat([head.subarray(0, 6), head.subarray(6), attribute, content, sum])
}

const SIGNATURE = ['--b', 'Content-Type: application/pkcs7-signature; name=smime.p7s', B64, '', 'MIAGCSqGSIb3', '--b--']

/** Mails within mails. */
export const ODD_MAILS_WITHIN: readonly OddMail[] = [
  oddFile('a forwarded mail', ['Content-Type: message/rfc822'], INNER, {
    files: ['(message/rfc822)'],
    text: 'A body.',
  }),
  oddFile(
    'a forwarded mail in base64 (which RFC 2046 5.2.1 forbids)',
    ['Content-Type: message/rfc822', B64],
    [base64(INNER.join('\r\n'))],
    { content: INNER.join('\r\n') },
  ),
  oddFile(
    'a forwarded mail with attachments',
    ['Content-Type: message/rfc822; name=fwd.eml'],
    ['Subject: Inner', 'Content-Type: multipart/mixed; boundary=inner', '', '--inner', '', 'x', '--inner--'],
    { files: ['fwd.eml'] },
  ),
  oddFile(
    'a forwarded mail that uses the outer boundary',
    ['Content-Type: message/rfc822'],
    ['Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'Inner.'],
    { subject: 'Body' },
  ),
  oddFile('a forwarded mail without anything', ['Content-Type: message/rfc822'], [], { text: 'A body.' }),
  oddFile('a forwarded mail in UTF-8 (message/global)', ['Content-Type: message/global'], INNER, {
    files: ['(message/global)'],
  }),
  odd(
    'a mail that is nothing but another mail',
    [...HEAD, 'Subject: Outer', 'Content-Type: message/rfc822', '', ...INNER],
    {
      subject: 'Outer',
      files: ['(message/rfc822)'],
    },
  ),
  odd(
    'a mail in thirty mails',
    [...HEAD, 'Subject: Outer', ...Array(30).fill(['Content-Type: message/rfc822', '']).flat(), 'x'],
    {
      subject: 'Outer',
      files: ['(message/rfc822)'],
    },
  ),
  oddBody(
    'a piece of a mail (message/partial)',
    ['Content-Type: message/partial; id="p@x"; number=1; total=2'],
    INNER,
    {
      files: ['(message/partial)'],
    },
  ),
  oddBody(
    'a mail that lies elsewhere (message/external-body)',
    ['Content-Type: message/external-body; access-type=URL; URL="http://127.0.0.1/"'],
    ['Content-Type: text/plain', ''],
    { files: ['(message/external-body)'] },
  ),
  oddBody(
    'a delivery report without a recipient',
    ['Content-Type: multipart/report; report-type=delivery-status; boundary=b'],
    [
      '--b',
      '',
      'It failed.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; x.test',
      '',
      '--b--',
    ],
    { text: 'It failed.', files: ['(message/delivery-status)'] },
  ),
  oddBody(
    'a read receipt',
    ['Content-Type: multipart/report; report-type=disposition-notification; boundary=b'],
    [
      '--b',
      '',
      'It was read.',
      '--b',
      'Content-Type: message/disposition-notification',
      '',
      'Disposition: manual-action/MDN-sent-manually; displayed',
      '--b--',
    ],
    { text: 'It was read.' },
  ),
]

/** Types that need a program of their own. */
export const ODD_TYPES: readonly OddMail[] = [
  oddFile(
    'TNEF',
    ['Content-Type: application/ms-tnef; name=winmail.dat', B64],
    [tnef(Buffer.from('IPM.Note\0')).toString('base64')],
    {
      files: ['winmail.dat'],
      type: 'application/ms-tnef',
    },
  ),
  oddFile(
    'TNEF that was cut off',
    ['Content-Type: application/ms-tnef; name=winmail.dat', B64],
    [tnef(Buffer.from('IPM.Note\0')).subarray(0, 9).toString('base64')],
    { files: ['winmail.dat'] },
  ),
  oddFile(
    'TNEF whose attribute claims four gigabytes',
    ['Content-Type: application/ms-tnef; name=winmail.dat', B64],
    [Buffer.from('789f3e220100010880060 0ffffffff'.replace(' ', ''), 'hex').toString('base64')],
    { files: ['winmail.dat'] },
  ),
  oddBody(
    'a mail of TNEF only',
    ['Content-Type: application/ms-tnef', B64],
    [tnef(Buffer.alloc(1)).toString('base64')],
    {
      text: null,
      files: ['(application/ms-tnef)'],
    },
  ),
  oddBody(
    'signed with S/MIME',
    ['Content-Type: multipart/signed; protocol="application/pkcs7-signature"; boundary=b'],
    ['--b', 'Content-Type: text/plain', '', 'Signed words.', ...SIGNATURE],
    { text: 'Signed words.', files: ['smime.p7s'] },
  ),
  oddBody(
    'signed with S/MIME, as one opaque part',
    ['Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m', B64],
    ['MIAGCSqGSIb3DQEHAqCAMIACAQEx'],
    { text: null, files: ['smime.p7m'] },
  ),
  oddBody(
    'encrypted with S/MIME',
    ['Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m', B64],
    ['MIAGCSqGSIb3DQEHA6CAMIACAQAx'],
    { text: null, files: ['smime.p7m'] },
  ),
  oddBody(
    'encrypted with OpenPGP',
    ['Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b'],
    [
      '--b',
      'Content-Type: application/pgp-encrypted',
      '',
      'Version: 1',
      '--b',
      'Content-Type: application/octet-stream; name=encrypted.asc',
      '',
      '-----BEGIN PGP MESSAGE-----',
      '--b--',
    ],
    { text: null, files: ['(application/pgp-encrypted)', 'encrypted.asc'] },
  ),
  oddBody(
    'signed with OpenPGP inline',
    [],
    [
      '-----BEGIN PGP SIGNED MESSAGE-----',
      'Hash: SHA256',
      '',
      '- -- dashes',
      '-----BEGIN PGP SIGNATURE-----',
      'x',
      '-----END PGP SIGNATURE-----',
    ],
    {
      text: '- -- dashes',
    },
  ),
  oddBody(
    'a signed mail without its signature',
    ['Content-Type: multipart/signed; boundary=b'],
    ['--b', '', 'Words.', '--b--'],
    {
      text: 'Words.',
      files: [],
    },
  ),
  oddBody('a calendar as the whole mail', ['Content-Type: text/calendar; method=REQUEST'], CALENDAR, {
    text: null,
    type: 'text/calendar',
    files: ['(text/calendar)'],
  }),
  oddFile('a calendar as a file', ['Content-Type: text/calendar; name=invite.ics'], CALENDAR, {
    files: ['invite.ics'],
    content: CALENDAR.join('\r\n'),
  }),
  oddFile(
    'a calendar in base64 under another type',
    ['Content-Type: application/ics; name=invite.ics', B64],
    [base64(CALENDAR.join('\r\n'))],
    {
      content: CALENDAR.join('\r\n'),
    },
  ),
  oddFile('a calendar without an end', ['Content-Type: text/calendar; name=invite.ics'], CALENDAR.slice(0, 4), {
    files: ['invite.ics'],
  }),
  oddBody('a picture as the whole mail', ['Content-Type: image/gif; name=a.gif', B64], ['R0lGODlh'], {
    text: null,
    files: ['a.gif'],
    content: 'GIF89a',
  }),
  oddBody('text that is enriched', ['Content-Type: text/enriched'], ['<bold>Words.</bold>'], {
    text: null,
    files: ['(text/enriched)'],
  }),
  oddBody('a type in capitals', ['Content-Type: TEXT/HTML'], ['<p>Loud.'], { html: 'Loud.' }),
  oddBody('html only', ['Content-Type: text/html'], ['<p>Words.'], { text: null, html: 'Words.' }),
  oddFile('a type with a line break in a parameter', ['Content-Type: application/x-y;', ' name="a', ' b.bin"'], ['x'], {
    files: ['a b.bin'],
  }),
  oddFile(
    'a virus in nothing but its name',
    ['Content-Type: application/x-msdownload; name="invoice.pdf.exe"', B64],
    ['TVo='],
    {
      files: ['invoice.pdf.exe'],
      content: 'MZ',
    },
  ),
]
