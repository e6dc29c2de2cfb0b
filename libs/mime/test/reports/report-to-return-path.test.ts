import { growthOf, MOST_GROWTH } from '@restante/service/testing'
import { parse, readMail, reportToReturnPath } from '../../src/index.ts'
import { mailOf } from '../fixture.ts'

const SYSTEM = 'From: Mail Delivery System <mailer-daemon@far.test>'
const PERSON = 'From: Pia <pia@far.test>'
const NOTICE = 'Subject: Undelivered Mail Returned to Sender'
const REASON = '<gone@far.test>: 550 5.1.1 User unknown'
const ORIGINAL = ['', 'Received: from a.test by b.test; Tue, 5 Mar 2024 09:12:44 +0000', 'Subject: Offer']

const read = (mailFrom: string, ...lines: string[]) => reportToReturnPath(readMail(mailOf(...lines)), mailFrom)

describe('reportToReturnPath', () => {
  it('believes a mail system at its words, by envelope, address or name', () => {
    const expected = { recipients: [{ recipient: 'gone@far.test', action: 'failed', status: '5.1.1' }] }
    expect(read('', SYSTEM, NOTICE, '', REASON)).toMatchObject(expected)
    expect(read('postmaster@far.test', PERSON, NOTICE, '', REASON)).toMatchObject(expected)
    expect(read('x@far.test', 'From: Mail Delivery Subsystem <x@far.test>', NOTICE, '', REASON)).toMatchObject(expected)
    expect(read('pia@far.test', PERSON, NOTICE, '', REASON, ...ORIGINAL)).toBeUndefined()
  })

  it('believes another name from the null sender only with a reason and the returned mail', () => {
    expect(read('', PERSON, NOTICE, '', REASON, ...ORIGINAL)).toMatchObject({ kind: 'delivery' })
    expect(read('', PERSON, NOTICE, '', REASON)).toBeUndefined()
    expect(read('', PERSON, NOTICE, '', 'Sorry.', ...ORIGINAL)).toBeUndefined()
    for (const mark of ['Auto-Submitted: auto-replied', 'Precedence: bulk', 'List-Id: <l.far.test>'])
      expect(read('', PERSON, mark, NOTICE, '', REASON, ...ORIGINAL)).toBeUndefined()
  })

  it('believes no postmaster who answers, without the returned mail or an address that failed', () => {
    const postmaster = 'From: Postmaster <postmaster@far.test>'
    const away = ['Subject: Re: Undelivered mail', '', 'I am on vacation. 550 User unknown: write to noc@far.test.']
    const ticket = [
      'Subject: [#7] Undelivered mail',
      '',
      'We opened a ticket. "550 5.1.1 User unknown" means a wrong address.',
    ]
    const letter = ['Subject: Your mail', '', 'You write to <gone@far.test>, and will get 554 5.7.1 if you go on.']
    for (const lines of [away, ticket, letter]) expect(read('', postmaster, ...lines)).toBeUndefined()
    expect(read('', 'From: Joe Postmaster <joe@far.test>', ...away, ...ORIGINAL)).toBeUndefined()
    expect(read('', postmaster, NOTICE, '', REASON)).toMatchObject({ recipients: [{ recipient: 'gone@far.test' }] })
    expect(read('joe@far.test', 'From: Joe Postmaster <joe@far.test>', NOTICE, '', REASON)).toBeUndefined()
  })

  it('believes a server whatever the subject of the mail that failed', () => {
    const about = 'Subject: Undeliverable: Out of office'
    expect(read('', SYSTEM, about, '', REASON)).toMatchObject({ recipients: [{ recipient: 'gone@far.test' }] })
  })

  it('takes the only address for the one that failed, whatever precedes it', () => {
    const words = 'Ihre Nachricht konnte nicht zugestellt werden. Das Postfach von gone@far.test ist voll.'
    expect(read('', SYSTEM, NOTICE, 'Content-Type: text/plain; charset=utf-8', '', words)).toMatchObject({
      recipients: [{ recipient: 'gone@far.test' }],
    })
  })

  it('believes a server that returns the mail without a reason, and calls that a reply', () => {
    const reply = 'Auto-Submitted: auto-replied'
    const words = 'Your message to <gone@far.test> cannot be delivered.'
    expect(read('', SYSTEM, reply, NOTICE, '', words, ...ORIGINAL)).toMatchObject({
      recipients: [{ action: 'failed' }],
    })
    expect(read('', SYSTEM, reply, NOTICE, '', words)).toBeUndefined()
  })

  it.each([
    '收件人：gone@far.test（不存在）',
    '收件人gone@far.test不存在',
    'gone@far.test님에게 전송하지 못했습니다. 존재하지 않는 주소입니다',
  ])('tells an address from words that stand beside it without a blank: %s', (words) => {
    const type = 'Content-Type: text/plain; charset=utf-8'
    const report = read('', SYSTEM, NOTICE, type, '', words)
    expect(report).toMatchObject({ recipients: [{ recipient: 'gone@far.test' }] })
    expect(report?.recipients).toHaveLength(1)
  })

  it('takes neither an identifier nor the sender for the address that failed', () => {
    const words = ['Original message ID: 1.2@far.test', 'Sent by <bo@far.test>.', 'Unknown user: <gone@far.test>']
    expect(read('', SYSTEM, NOTICE, '', ...words)).toMatchObject({ recipients: [{ recipient: 'gone@far.test' }] })
  })

  it('reports each of several addresses, also one whose account is only closed', () => {
    const words = ['<gone@far.test>:', 'User unknown', '', '<off@far.test>:', 'This account has been disabled']
    expect(read('', SYSTEM, NOTICE, '', ...words)).toMatchObject({
      recipients: [{ recipient: 'gone@far.test' }, { recipient: 'off@far.test' }],
    })
  })

  it.each([
    "Votre message pour <bo@far.test> n'a pas encore été remis: 451 4.4.1",
    'Wiadomość do <bo@far.test> nie została jeszcze dostarczona: 450 4.2.0',
    'Il messaggio per <bo@far.test> non è stato ancora consegnato: 451 4.7.1',
  ])('takes a warning for none: %s', (words) => {
    const type = 'Content-Type: text/plain; charset=utf-8'
    expect(read('', SYSTEM, NOTICE, type, '', words)).toMatchObject({ recipients: [{ action: 'delayed' }] })
  })

  it('reads the html beside a blank text', () => {
    const parts = ['--b', '', '', '--b', 'Content-Type: text/html', '', `<p>gone@far.test: User unknown</p>`, '--b--']
    const type = 'Content-Type: multipart/alternative; boundary=b'
    expect(read('', SYSTEM, NOTICE, type, '', ...parts)).toMatchObject({ recipients: [{ recipient: 'gone@far.test' }] })
  })

  it('reads no words of the mail that is returned', () => {
    const text = ['<gone@far.test>: User unknown', ...ORIGINAL, '', 'Your mailbox is full: 552 5.2.2 <bo@far.test>']
    expect(read('', SYSTEM, NOTICE, '', ...text)).toEqual({
      kind: 'delivery',
      recipients: [{ recipient: 'gone@far.test', action: 'failed', diagnostic: '<gone@far.test>: User unknown' }],
    })
  })

  it('takes from words what the fields of a report leave open, and nothing that they say', () => {
    const status = (...group: string[]) => [
      SYSTEM,
      'Content-Type: multipart/report; boundary=b',
      '',
      '--b',
      '',
      '<gone@far.test>: account does not exist',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; far.test',
      '',
      ...group,
      '--b--',
    ]
    const group = ['Final-Recipient: rfc822; gone@far.test', 'Action: failed']
    expect(read('', ...status(...group, 'Status: 5.0.0'))).toMatchObject({
      recipients: [{ status: '5.0.0', diagnostic: '<gone@far.test>: account does not exist' }],
    })
    expect(read('', ...status(...group, 'Status: 5.7.1'))).toMatchObject({ recipients: [{ status: '5.7.1' }] })
    expect(read('', ...status(...group, 'Status: 5.7.1'))).not.toHaveProperty(['recipients', 0, 'diagnostic'])
    const other = ['Final-Recipient: rfc822; bo@far.test', 'Action: failed', 'Status: 5.0.0', '']
    expect(read('', ...status(...other, ...group, 'Status: 5.0.0'))).toMatchObject({
      recipients: [
        { recipient: 'bo@far.test', status: '5.0.0' },
        { recipient: 'gone@far.test', diagnostic: '<gone@far.test>: account does not exist' },
      ],
    })
    expect(read('', ...status('Action: delayed', 'Status: 4.0.0'))).toMatchObject({
      recipients: [{ action: 'delayed' }],
    })
  })

  it('prefers the address that the mail was sent to over one of another system', () => {
    const fields = ['Original-Recipient: rfc822; gone@far.test', 'Final-Recipient: x400; /S=gone/', 'Action: failed']
    const lines = ['Content-Type: multipart/report; boundary=b', '', '--b', 'Content-Type: message/delivery-status', '']
    expect(read('', SYSTEM, ...lines, ...fields, '--b--')).toMatchObject({
      recipients: [{ recipient: 'gone@far.test' }],
    })
  })

  it.each([
    ['addresses', 'a@b.test\n'],
    ['addresses in one line', '<a@b.test> '],
    ['answers', '<a@b.test>: 550 5.0.0 no\n'],
    ['half addresses', 'a@'],
    ['labels', 'address: '],
    ['beginnings of reasons', 'user mailbox over the its quota '],
    ['beginnings of announcements', 'could not be been mail message delivery nicht '],
    ['beginnings of other languages', 'адрес 宛先 utilisateur postfach '],
    ['empty lines', '\n'],
    ['blank lines', ' \n\t\n'],
    ['one word', 'a'],
  ])('reads 1 MB of %s in time proportional to it', (_what, unit) => {
    const head = `${SYSTEM}\r\nSubject: ${'not delivered '.repeat(50)}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`
    // What else is derived from such a text takes seconds, and is not read here.
    const mailOfSize = (size: number) => {
      const body = unit.repeat(Math.ceil(size / unit.length)).replaceAll('\n', '\r\n')
      return { ...parse(Buffer.from(head + body)), searchText: '' }
    }
    expect(growthOf(1_000_000, mailOfSize, (mail) => reportToReturnPath(mail, ''))).toBeLessThan(MOST_GROWTH)
  })

  it('names at most 100 addresses of a text', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `<a${index}@b.test>: 550 5.1.1 User unknown`)
    expect(read('', SYSTEM, NOTICE, '', ...lines)).toMatchObject({ recipients: { length: 100 } })
  })
})
