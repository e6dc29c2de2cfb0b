import { byLength } from '@restante/testkit'

/** Mails that want too much of whoever reads them. Lines end with CR LF, as SMTP demands; dots are not stuffed. */
export interface HostileMail {
  readonly what: string
  readonly raw: () => Buffer
}

const MB = 1024 * 1024
/** The unit of what is long for its own sake. In the short form one mail alone is as large as a mail may be. */
const MUCH = byLength({ short: MB / 4, long: MB })
const HEAD = 'From: Eve <eve@evil.test>\r\nTo: Ada <ada@mail.test>\r\nMIME-Version: 1.0\r\n'
const MIXED = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n'

const mail = (what: string, raw: () => string): HostileMail => ({ what, raw: () => Buffer.from(raw(), 'latin1') })
const filled = (unit: string, bytes: number): string => unit.repeat(Math.ceil(bytes / unit.length))
const times = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('')

export const HOSTILE_MAILS: readonly HostileMail[] = [
  mail('an endless header', () => `${HEAD}${times(200_000, (i) => `X-${i}: y\r\n`)}Subject: late\r\n\r\nx\r\n`),
  mail('one endless header line', () => `${HEAD}Subject: ${filled('s', 5 * MUCH)}\r\n\r\nx\r\n`),
  mail('one endless folded header', () => `${HEAD}Subject: ${filled('word\r\n ', 2 * MUCH)}\r\n\r\nx\r\n`),
  mail('one endless line', () => `${HEAD}\r\n${filled('x', 20 * MUCH)}\r\n`),
  mail('endless empty lines', () => `${HEAD}\r\n${filled('\r\n', 10 * MUCH)}x\r\n`),
  mail('10,000 parts', () => {
    const parts = times(
      10_000,
      (i) => `--b\r\nContent-Type: text/plain; name="${i}.txt"\r\nContent-Disposition: attachment\r\n\r\n${i}\r\n`,
    )
    return `${HEAD}${MIXED}${parts}--b--\r\n`
  }),
  mail('200 levels of nesting', () => {
    const open = times(200, (i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`)
    return `${HEAD}${open}Content-Type: text/plain\r\n\r\nx\r\n`
  }),
  mail(
    '200 mails within each other',
    () => `${HEAD}${times(200, () => 'Content-Type: message/rfc822\r\n\r\n')}\r\nx\r\n`,
  ),
  mail('base64 that never ends', () => {
    const type = 'Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    return `${HEAD}${type}${filled(`${'QUJD'.repeat(19)}\r\n`, 38 * MB)}`
  }),
  mail(
    'base64 of nothing but padding',
    () => `${HEAD}Content-Transfer-Encoding: base64\r\n\r\n${filled('A===\r\n', 4 * MUCH)}`,
  ),
  mail(
    'base64 that is padded after every character',
    () => `${HEAD}Content-Transfer-Encoding: base64\r\n\r\n${filled('A=A=A=\r\n', 38 * MUCH)}`,
  ),
  mail(
    'UTF-7 that never ends',
    () => `${HEAD}Content-Type: text/plain; charset=utf-7\r\n\r\n${filled('+AGE-+AGE-\r\n', 10 * MUCH)}`,
  ),
  mail('delimiters that never end', () => `${HEAD}${MIXED}--b\r\n\r\nx\r\n${filled('--b--\r\n--bx\r\n', 20 * MUCH)}`),
  mail('long headers in every part', () => {
    const names = (index: number): string => `Content-Type: a/b; ${filled(`n${index}*1=x; `, 40_000)}\r\n`
    return `${HEAD}${MIXED}${times(byLength({ short: 100, long: 400 }), (index) => `--b\r\n${names(index)}\r\nx\r\n`)}--b--\r\n`
  }),
  mail(
    'a megabyte of line breaks in html',
    () => `${HEAD}Content-Type: text/html\r\n\r\n${filled('x<br>', MB - 100)}\r\n`,
  ),
  mail(
    'a megabyte of quotes in html',
    () => `${HEAD}Content-Type: text/html\r\n\r\n${filled('<div class="gmail_quote">x</div>y', MB - 100)}\r\n`,
  ),
  mail(
    'authors without an end',
    () =>
      `From: (${filled('a', 100_000)}) <a@evil.test>\r\n${times(2_000, (i) => `From: ${i}@evil.test\r\n`)}\r\nx\r\n`,
  ),
  mail('an author of brackets', () => `From: ${filled('(<"', 100_000)}\r\nTo: ${filled('(<"', 100_000)}\r\n\r\nx\r\n`),
  mail(
    'quoted-printable blanks',
    () => `${HEAD}Content-Transfer-Encoding: quoted-printable\r\n\r\n${filled(`${' '.repeat(900)}=\r\n`, 2 * MUCH)}`,
  ),
  mail('broken encodings', () => {
    const part = (type: string, encoding: string, body: string) =>
      `--b\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`
    const parts = [
      part('text/plain; charset=utf-8', '8bit', 'a\xff\xfe\xc3'),
      part('text/plain; charset=nonsense', 'base64', '!!!not base64!!!'),
      part('text/html; charset=utf-16', 'quoted-printable', '=XX=D8=00='),
      part('text/plain; charset=utf-7', 'x-unknown', '+2AA-'),
      part('text/plain; charset=iso-2022-jp', '7bit', '\x1b$B'),
    ]
    return `${HEAD}Subject: =?utf-8?b?/////w==?= =?nonsense?q?=?= =?utf-16?b?2AA=?= =?utf-8?q?=F0=9F?=\r\n${MIXED}${parts.join('')}--b--\r\n`
  }),
  mail(
    'headers of eight bits',
    () =>
      `${HEAD}Subject: gr\xfc\xdfe \xf0\x9f\x8e\x89\r\nX-\xfc: \xff\r\nReply-To: "\xc3\x28" <\xfc@evil.test>\r\n\r\n\xe4\r\n`,
  ),
  mail(
    'NULs everywhere',
    () =>
      `From: E\0ve <e\0ve@evil.test>\r\nTo: =?utf-8?q?=00?= <a\0@b.test>\r\nSubject: a\0b =?utf-8?b?AAAA?=\r\nMessage-ID: <n\0ul@evil.test>\r\nIn-Reply-To: <\0@x>\r\nReferences: <a\0@x> <\0>\r\nX-N\0: \0\r\n` +
      `MIME-Version: 1.0\r\n${MIXED}--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\na\0b\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>a\0b&#0;&#xD800;</p>\r\n--b\r\n` +
      `Content-Type: image/\0gif; name="a\0.gif"\r\nContent-ID: <\0@x>\r\nContent-Disposition: attachment; filename*=utf-8''a%00%ED%A0%80.gif\r\n\r\n\0\r\n--b--\r\n`,
  ),
  mail(
    '5,000 references',
    () => `${HEAD}References: ${times(5_000, (i) => `<${i}@evil.test>\r\n `)}<last@evil.test>\r\n\r\nx\r\n`,
  ),
  mail(
    'references that are too long',
    () =>
      `${HEAD}Message-ID: <${'m'.repeat(5_000)}@evil.test>\r\nReferences: <${'r'.repeat(5_000)}@evil.test>\r\n\r\nx\r\n`,
  ),
  mail(
    '5,000 recipients',
    () =>
      `${HEAD}Cc: ${times(5_000, (i) => `"Name ${i}" <user${i}@x.test>,\r\n `)}z@x.test\r\nReply-To: ${times(1_000, (i) => `"${'\\"'.repeat(200)}${i}" <r${i}@x.test>,\r\n `)}z@x.test\r\n\r\nx\r\n`,
  ),
  mail(
    'html without an end',
    () => `${HEAD}Content-Type: text/html\r\n\r\n${filled('<div><table><tr><td style="', 3 * MB)}\r\n`,
  ),
  mail(
    'html that is a picture and a thousand open tags',
    () => `${HEAD}Content-Type: text/html\r\n\r\n<img src=x>${filled('<style>', 45_000)}\r\n`,
  ),
  mail('names that lead elsewhere', () => {
    const file =
      'Content-Type: a"b\\c; name="../../etc/passwd\\"; x"\r\nContent-Disposition: attachment; filename="\r\n ../../x\\"\r\n\r\nx\r\n'
    return `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\n${file}--b--\r\n`
  }),
  mail(
    'a thousand signatures',
    () =>
      `${times(1_000, (i) => `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=x${i}.test; s=s; h=from; l=${i}; bh=AAAA; b=AAAA\r\n`)}${HEAD}\r\n${filled('x\r\n', 5 * MUCH)}`,
  ),
  mail(
    'a signature of blanks',
    () =>
      `DKIM-Signature: v=1;${filled(' ', 200_000)}\r\n${HEAD}Content-Type: text/plain;${filled(' ', 200_000)}\r\n\r\nx\r\n`,
  ),
  mail('no header', () => 'just words\r\n'),
  mail('nothing', () => ''),
]
