/** What a reader of a mail is shown, where the standards or the common practice of mail programs leave no choice. */
export interface Shown {
  /** `null`: none. */
  readonly subject?: string | null
  readonly from?: string
  readonly to?: readonly string[]
  /** A piece of the text. `null`: no text. */
  readonly text?: string | null
  /** A piece of the html. */
  readonly html?: string
  /** The names of the attachments, in order; of one without a name its type in parentheses. */
  readonly files?: readonly string[]
  /** The type of the only attachment. */
  readonly type?: string
  /** The decoded content of the only attachment, in `latin1`. */
  readonly content?: string
}

/** An odd mail: bytes as SMTP carries them, with CR LF at the end of each line. */
export interface OddMail {
  /** What is odd about it. */
  readonly what: string
  readonly raw: Buffer
  readonly shows: Shown
}

/** A mail of these lines, each in `latin1`, so that `\xff` is one byte. */
export function odd(what: string, lines: readonly string[], shows: Shown): OddMail {
  return { what, raw: Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1'), shows }
}

/** A mail of one text/plain body with these further fields. */
export function oddText(what: string, fields: readonly string[], shows: Shown): OddMail {
  return odd(what, [...HEAD, ...fields, '', 'A body.'], { ...SHOWN, text: 'A body.', ...shows })
}

/** A mail whose body has these fields and these lines. */
export function oddBody(what: string, fields: readonly string[], body: readonly string[], shows: Shown): OddMail {
  const header = [...HEAD, 'Subject: Body', 'MIME-Version: 1.0', ...fields]
  return odd(what, [...header, '', ...body], { ...SHOWN, subject: 'Body', ...shows })
}

/** A multipart/mixed of a text and this part. */
export function oddFile(what: string, fields: readonly string[], body: readonly string[], shows: Shown): OddMail {
  const parts = ['--b', '', 'A body.', '--b', ...fields, '', ...body, '--b--']
  return oddBody(what, ['Content-Type: multipart/mixed; boundary=b'], parts, {
    text: 'A body.',
    ...shows,
  })
}

export const HEAD: readonly string[] = ['From: Eve <eve@evil.test>', 'To: Ada <ada@mail.test>']
const SHOWN: Shown = { from: 'Eve <eve@evil.test>', to: ['Ada <ada@mail.test>'] }

/** The UTF-8 bytes of a text, as `odd` takes them. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1')
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
