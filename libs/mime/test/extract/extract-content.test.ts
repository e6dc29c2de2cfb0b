import { extractReply, extractReplyHtml } from '../../src/index.ts'

const text = (...lines: string[]): string => lines.join('\n')
const below = (...answer: string[]): string[] => [
  'See below.',
  '',
  'On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:',
  '> Which text?',
  '',
  ...answer,
]

describe('extractReply takes for content', () => {
  it.each([
    ['the header of a mail that is explained', ['Filter this:', '', 'From: a@x.org', 'To: b@x.org', 'Subject: Alarm']],
    ['a memo with a day and no time', ['MEMO', '', 'To: all', 'From: Bo', 'Date: 3 March 2026', 'Subject: Cars']],
    ['a booking below a rule', ['Book:', '_____', 'From: Berlin', 'To: Hamburg', 'Date: 3 March 2026', '', 'Thanks']],
    ['a booking below a title', ['Book:', '', '---- Outward ----', 'From: Berlin', 'To: Hamburg', '', 'Thanks']],
    ['a booking in one line', ['Book:', '', 'From: Berlin, To: Hamburg, Date: 3 March 2026, Subject: visit']],
    [
      'lines of a log that someone wrote',
      ['It says:', '', 'On Tue, 03 Mar 2026 09:10:22 +0100, job wrote: 512 bytes', '', 'Then it hangs.'],
    ],
    [
      'lines of a log about mail',
      ['It says:', '', '2026-03-03 09:10:22 From: bo@x.org To: al@x.org Size: 120', '', 'Why?'],
    ],
    [
      'what somebody wrote at a time',
      ['Hi.', '', 'On 3 March 2026 at 09:10 the bank wrote:', '"I cancel."', '', 'Ok?'],
    ],
    [
      'what stands in a sentence',
      ['Hallo,', '', 'am 3. März 2026 um 9:10 Uhr schrieb Herr Meier:', '"Nein."', '', 'Ok?'],
    ],
    [
      'a lighting test',
      ['See:', '', 'Date: 14 March 2026, 19:00', 'From: the door', 'To: the stage', 'Subject: light', '', 'Ok?'],
    ],
    ['a ticket with a day', ['See:', '', 'Subject: Fire', 'From: al@x.org', 'Date: 3 March 2026', '', 'Ok?']],
    ['a parcel', ['It left:', '', 'From: Graz', 'To: Al, Hamburg', 'Sent: 3 March 2026, 09:10', '', 'Tell me.']],
    ['a form that speaks of its last line', ['It says:', '', 'Sign here but do not write below this line.', '', 'Ok?']],
    ['a list with an original message', ['Attached:', '', '-- original message as pdf', '-- invoice']],
    ['what was typed into Python', ['I ran this', '', '>>> import a', '>>> a.b()', '>>> a.c()']],
    [
      'fields that are typed in French',
      ['Voici :', '', 'de : bo@x.org', 'date : 3 mars 2026 à 09:10', 'objet : x', '', 'Ok ?'],
    ],
    ['aligned settings', ['It has', '', '  from : bo@x.org', '  subject : Daily', '  sent : never', '', 'Why?']],
    [
      'a sentence with a date and an address above a quote',
      ['Hi,', '', 'Please answer what our customer Bo asked (bo@x.org) on 3 March 2026 at 9:10:', '', '> Which text?'],
    ],
    ['a draft of a mail', ['My draft.', '', 'From: Al <al@x.org>', 'To: Bo <bo@x.org>', 'Subject: Lunch', '', 'Ok?']],
    [
      'a header that is announced',
      [
        'This is what I got:',
        '',
        'From: Bo <bo@x.org>',
        'Sent: 3 March 2026 09:10',
        'To: Al',
        'Subject: x',
        '',
        'Why?',
      ],
    ],
    [
      'a header as it was sent',
      ['I got this.', '', 'From: bo@x.org', 'Date: Tue, 3 Mar 2026 09:10:00 +0100', 'Return-Path: <>', '', 'Why?'],
    ],
    [
      'a request with headers',
      [
        'I sent',
        '',
        'POST / HTTP/1.1',
        'From: bo@x.org',
        'Date: Tue, 3 Mar 2026 09:10:00 GMT',
        'To: al@x.org',
        '',
        'Ok?',
      ],
    ],
    [
      'letters that are listed',
      ['On file:', ...['Bo', 'Al'].flatMap((name) => [`On 3 Mar 2026 at 09:10, ${name} <a@x.org> wrote:`, 'No.'])],
    ],
    [
      'entries of a log in which several people write',
      ['Bo', 'Al'].flatMap((name) => [`On 3 Mar 2026 at 09:10, ${name} Li wrote:`, '', 'It rings.', '']).slice(0, -1),
    ],
    ['an entry of a log', ['The log says', '', '2026年3月3日 9:10,王伟写道:', '钥匙在盒子里。']],
    ['sections between dashes', ['One.', '-- ', 'the second one is longer.', '', 'Shall I go on?']],
    ['a postscript below a signature', ['Ok.', '-- ', 'Al', '', 'P.S. Bring it.']],
    [
      'the marks of a ticket system that someone speaks of',
      ['It has', '', '##- Reply above this line -##', '', 'twice.'],
    ],
    ['a program that is announced', ['For this you need:', '', 'Get Outlook for Windows']],
    ['answers below a header', ['My answers:', '', '-----Original Message-----', 'From: Bo', '', '> Ok?', 'Yes.']],
    ['an answer that speaks of a disclaimer', below('Use the confidentiality notice of last year.')],
    ['an answer about a virus', below('Yes, it is virus-free.')],
    ['an answer about how to answer', below('They can reply to this email directly.')],
    ['a French answer about a secret', below('Non, ce document est confidentiel.')],
  ])('%s', (_, lines) => {
    expect(extractReply(text(...lines))).toBe(text(...lines))
  })

  it('the fields of a form in html, with a border above', () => {
    const html =
      '<p>Booking</p><div style="border-top:solid #E1E1E1 1pt"><p><b>From:</b> Berlin<br><b>To:</b> Hamburg<br><b>Date:</b> 3 March 2026<br><b>Subject:</b> visit</p></div><p>Ok?</p>'
    expect(extractReplyHtml(html)).toBe(html)
  })
})

describe('extractReply cuts', () => {
  it.each([
    ['a Spanish time', ['El mar, 3 mar 2026 a la(s) 9:10 a. m., Bo Berg escribió:', '', 'Lunch?']],
    ['a Dutch time', ['Op 3 maart 2026 om 09:10 uur schreef Bo Berg:', '', 'Lunch?']],
    ['an attribution in a language that it does not know', ['2026 Qux 3, 9:10 zork <bo@x.org> blah:', '', '> Lunch?']],
    ['Bengali digits', ['মঙ্গল, ৩ মার্চ, ২০২৬ তারিখে ৯:১০ AM টায় তারিখে Bo <bo@x.org> লিখেছেন:', '', '> Lunch?']],
    ['Estonian', ['Kuupäev T, 3. märts 2026 kell 09:10 kirjutas Bo <bo@x.org>:', '', '> Lunch?']],
    ['Icelandic', ['Þann þri., 3. mar. 2026 kl. 09:10 skrifaði Bo <bo@x.org>:', '', '> Lunch?']],
    [
      'Yandex, with the recipient and the subject above',
      ['----------------', 'Кому: Al (al@x.org);', 'Тема: Lunch;', '03.03.2026, 09:10, "Bo" <bo@x.org>:', 'Lunch?'],
    ],
    [
      'Orange, without capitals',
      ['envoyé : 3 mars 2026 à 09:10', 'de : Bo <bo@x.org>', 'à : al@x.org', 'objet : Lunch', '', 'Lunch?'],
    ],
    ['a name without an address, above no marks', ['On Tue, Mar 3, 2026 at 9:10 AM Bo Li wrote:', '', 'Lunch?']],
    [
      'a header without a subject and addresses',
      ['From: Bo', 'Sent: Tuesday, March 3, 2026 9:10 AM', 'To: Al', '', 'Lunch?'],
    ],
    ['BlueMail with marks that have no width', ['\u2063Get BlueMail for Android \u200b']],
    ['blanks that have no width', ['\u200b', 'On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:', '> Lunch?']],
    [
      'a short disclaimer that speaks of the mail',
      [
        'Bo <bo@x.org> wrote:',
        '> Lunch?',
        '',
        'This email and any attachments are confidential and may be privileged.',
      ],
    ],
  ])('%s', (_, history) => {
    expect(extractReply(text('Fine by me.\u200b', '', ...history))).toBe('Fine by me.')
  })

  it('nothing of the words ahead of an attribution in a language that it does not know', () => {
    const body = text('Fine by me. Yes. 2026 Qux 3, 9:10 zork <bo@x.org> blah:', '> Lunch?')
    expect(extractReply(body)).toMatch(/^Fine by me\. Yes\./)
  })
})
