import { parse } from '../../src/index.ts'
import { mailOf } from '../fixture.ts'

describe('characters that change the direction of text', () => {
  it('are removed from subjects, names and file names, however they were encoded', () => {
    const parts = [
      'filename="a\u202egpj.exe"',
      "filename*=utf-8''a%E2%80%AEgpj.exe",
      'filename="=?utf-8?q?a=E2=80=AEgpj.exe?="',
    ].flatMap((name) => ['--b', `Content-Disposition: attachment; ${name}`, '', 'x'])
    const mail = parse(
      mailOf(
        'From: \u2066A\u2069da <a@b.co>',
        'To: =?utf-8?q?=E2=80=AEB?= <b@c.co>',
        'Subject: \u202ax\u202b =?utf-8?q?=E2=81=A7y=E2=80=AC?=',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        ...parts,
        '--b--',
      ),
    )
    expect(mail).toMatchObject({ from: 'Ada <a@b.co>', to: ['B <b@c.co>'], subject: 'x y' })
    expect(mail.attachments.map(({ filename }) => filename)).toEqual(['agpj.exe', 'agpj.exe', 'agpj.exe'])
  })
})
