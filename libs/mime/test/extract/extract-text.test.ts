import { extractReply } from '../../src/index.ts'

const text = (...lines: string[]): string => lines.join('\n')

describe('extractReply cuts the history of', () => {
  const quote = ['> Lunch?', '> ', '> Bo']
  it.each([
    ['Gmail', ['On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:', '', ...quote]],
    [
      'Gmail, wrapped',
      ['On Tue, Mar 3, 2026 at 9:10 AM Bo With A Long Name <', 'bo.with.a.long.name@x.org> wrote:', ...quote],
    ],
    ['Gmail, wrapped twice', ['On Tue, Mar 3, 2026 at 9:10 AM Bo', 'With A Long Name <bo@x.org>', 'wrote:', ...quote]],
    ['Apple Mail', ['On Mar 3, 2026, at 9:10 AM, Bo <bo@x.org> wrote:', '', ...quote]],
    ['Thunderbird', ['On 3/3/26 9:10 AM, Bo wrote:', ...quote]],
    ['an old client', ['Bo wrote:', '', ...quote]],
    ['German Gmail', ['Am Di., 3. März 2026 um 09:10 Uhr schrieb Bo <bo@x.org>:', '', ...quote]],
    ['German Thunderbird', ['Am 03.03.26 um 09:10 schrieb Bo:', ...quote]],
    ['German, name only', ['Bo schrieb:', ...quote]],
    ['French', ['Le mar. 3 mars 2026 à 09:10, Bo <bo@x.org> a écrit :', '', ...quote]],
    ['French, wrapped', ['Le mar. 3 mars 2026 à 09:10, Bo <bo@x.org> a', 'écrit :', ...quote]],
    ['Spanish', ['El mar, 3 mar 2026 a las 9:10, Bo (<bo@x.org>) escribió:', '', ...quote]],
    ['Portuguese', ['Em ter., 3 de mar. de 2026 às 09:10, Bo <bo@x.org> escreveu:', ...quote]],
    ['Italian', ['Il giorno mar 3 mar 2026 alle ore 09:10 Bo <bo@x.org> ha scritto:', ...quote]],
    ['Dutch', ['Op di 3 mrt 2026 om 09:10 schreef Bo <bo@x.org>:', ...quote]],
    ['Swedish', ['Den tis 3 mars 2026 kl 09:10 skrev Bo <bo@x.org>:', ...quote]],
    ['Danish', ['Den tirs. 3. mar. 2026 kl. 09.10 skrev Bo <bo@x.org>:', ...quote]],
    ['Finnish', ['ti 3. maalisk. 2026 klo 9.10 Bo (bo@x.org) kirjoitti:', ...quote]],
    ['Polish', ['wt., 3 mar 2026 o 09:10 Bo <bo@x.org> napisał(a):', ...quote]],
    ['Czech', ['út 3. 3. 2026 v 9:10 odesílatel Bo <bo@x.org> napsal:', ...quote]],
    ['Russian', ['вт, 3 мар. 2026 г. в 09:10, Bo <bo@x.org>:', ...quote]],
    ['Russian, with a verb', ['3 марта 2026 г., в 09:10, Bo <bo@x.org> написал(а):', ...quote]],
    ['Turkish', ['Bo <bo@x.org>, 3 Mar 2026 Sal, 09:10 tarihinde şunu yazdı:', ...quote]],
    ['Hungarian', ['Bo <bo@x.org> ezt írta (időpont: 2026. márc. 3., K, 9:10):', ...quote]],
    ['Chinese', ['Bo <bo@x.org> 于2026年3月3日周二 09:10写道：', ...quote]],
    ['Japanese', ['2026年3月3日(火) 9:10 Bo <bo@x.org>:', ...quote]],
    ['Korean', ['2026년 3월 3일 (화) 오전 9:10, Bo <bo@x.org>님이 작성:', ...quote]],
    ['a client that quotes without marks', ['On Tue, Mar 3, 2026 at 9:10 AM, Bo <bo@x.org> wrote:', '', 'Lunch?']],
    ['Yahoo on a phone', ['  On Tue, Mar 3, 2026 at 9:10, Bo<bo@x.org> wrote:   Lunch?', 'Bo']],
    [
      'Outlook',
      [
        '-----Original Message-----',
        'From: Bo <bo@x.org>',
        'Sent: Tuesday, March 3, 2026 9:10 AM',
        'To: Al',
        'Subject: Lunch',
        '',
        'Lunch?',
      ],
    ],
    [
      'German Outlook',
      [
        '-----Ursprüngliche Nachricht-----',
        'Von: Bo',
        'Gesendet: Dienstag, 3. März 2026 09:10',
        'An: Al',
        'Betreff: Lunch',
        '',
        'Lunch?',
      ],
    ],
    ['Proton', ['-------- Original Message --------', 'On 3/3/26 09:10, Bo wrote:', '', 'Lunch?']],
    [
      'Outlook.com',
      [
        '________________________________',
        'From: Bo <bo@x.org>',
        'Sent: Tuesday',
        'To: Al',
        'Subject: Lunch',
        '',
        'Lunch?',
      ],
    ],
    [
      'Outlook on a phone',
      [
        '________________________________________',
        '',
        'De: Bo',
        'Enviado: martes',
        'Para: Al',
        'Asunto: Lunch',
        '',
        'Lunch?',
      ],
    ],
    ['a bare header block', ['From: Bo <bo@x.org>', 'Date: Tue, 3 Mar 2026', 'To: Al', 'Subject: Lunch', '', 'Lunch?']],
    ['a bold header block', ['*From:* Bo <bo@x.org>', '*Sent:* Tuesday', '*To:* Al', '*Subject:* Lunch', '', 'Lunch?']],
    ['a French header block', ['De : Bo', 'Envoyé : mardi 3 mars 2026', 'À : Al', 'Objet : Lunch', '', 'Lunch?']],
    ['QQ', ['------------------ 原始邮件 ------------------', '发件人: "Bo"', '', 'Lunch?']],
    ['nobody, three lines deep', ['> Lunch?', '> Bo', '> on Tuesday']],
    [
      'several levels',
      [
        'On 3 Mar 2026, at 10:00, Al <al@x.org> wrote:',
        '> No.',
        '> On 3 Mar 2026, at 09:10, Bo <bo@x.org> wrote:',
        '>> Lunch?',
      ],
    ],
    [
      'a quote above the signature',
      ['On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:', '> Lunch?', '-- ', 'Al, Sales'],
    ],
  ])('%s', (_, history) => {
    expect(extractReply(text('Fine by me.', '', 'Al', '', ...history))).toBe('Fine by me.\n\nAl')
  })
})

describe('extractReply keeps', () => {
  it.each([
    ['answers between quotes', ['> a?', 'yes', '> b?', 'no']],
    ['an answer below the quote', ['On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:', '> Lunch?', '', 'Fine by me.']],
    [
      'a forwarded message',
      [
        'FYI',
        '',
        '---------- Forwarded message ---------',
        'From: Bo <bo@x.org>',
        'Date: Tue',
        'Subject: Lunch',
        'To: Al',
        '',
        'Lunch?',
      ],
    ],
    [
      'a forward with history in it',
      [
        'FYI',
        '---------- Forwarded message ---------',
        'From: Bo',
        '',
        'Yes',
        'On 3 Mar 2026 at 9:10, Al <al@x.org> wrote:',
        '> Lunch?',
      ],
    ],
    [
      'Apple forwards',
      [
        'FYI',
        '',
        'Begin forwarded message:',
        '',
        '> From: Bo <bo@x.org>',
        '> Subject: Lunch',
        '> Date: 3 March 2026',
        '> ',
        '> Lunch?',
      ],
    ],
    [
      'Apple forwards inside the quote',
      ['FYI', '', '> Begin forwarded message:', '> ', '> From: Bo <bo@x.org>', '> Lunch?'],
    ],
    [
      'Thunderbird forwards',
      ['-------- Forwarded Message --------', 'Subject: Lunch', 'Date: Tue', 'From: Bo', 'To: Al', '', 'Lunch?'],
    ],
    [
      'German forwards',
      [
        'z.K.',
        '',
        '---------- Weitergeleitete Nachricht ----------',
        'Von: Bo',
        'Datum: 3. März',
        'An: Al',
        '',
        'Mittagessen?',
      ],
    ],
    [
      'a mail passed on without a word',
      ['-----Original Message-----', 'From: Bo', 'Sent: Tuesday', 'To: Al', 'Subject: Lunch', '', 'Lunch?'],
    ],
    ['one quoted line that illustrates', ['Please run:', '> npm start']],
    ['prose that mentions writing', ['On reflection I like what Bo wrote:', 'it is short.']],
    ['prose about a date', ['On 3 March we wrote:', 'the report is late.']],
    ['a rule in the text', ['One', '__________', 'Two']],
    ['addresses in the text', ['From: the top', 'we see far.']],
    [
      'a sentence about sending',
      [
        'Sent from my desk to yours, with best wishes for the coming year and all that it may bring to you and to the team.',
      ],
    ],
    ['text without anything to strip', ['Hello,', '', 'see you at 9:10.', '', 'Bo']],
  ])('%s', (_, lines) => {
    expect(extractReply(text(...lines))).toBe(text(...lines))
  })
})

describe('extractReply removes the signature', () => {
  it.each([
    ['after two dashes and a space', ['-- ', 'Al', 'Sales']],
    ['after two dashes', ['--', 'Al']],
    ['of a phone', ['Sent from my iPhone']],
    ['of Outlook on a phone', ['Get Outlook for iOS<https://aka.ms/o0ukef>']],
    ['of a German phone', ['Von meinem iPhone gesendet']],
    ['of a French phone', ['Envoyé de mon iPhone']],
    ['of a Spanish phone', ['Enviado desde mi iPhone']],
    ['of a Chinese phone', ['发自我的iPhone']],
    ['above the history', ['-- ', 'Al', '', 'On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:', '> Lunch?']],
    [
      'of a phone above the history',
      ['Sent from my iPhone', '', '> On Mar 3, 2026, at 9:10 AM, Bo <bo@x.org> wrote:', '> ', '> Lunch?'],
    ],
    [
      'of Outlook on a phone above the history',
      [
        'Get Outlook for Android<https://aka.ms/x>',
        '________________________________',
        'From: Bo',
        'Sent: Tuesday',
        'To: Al',
        'Subject: Lunch',
        '',
        'Lunch?',
      ],
    ],
  ])('%s', (_, lines) => {
    expect(extractReply(text('Fine by me.', '', ...lines))).toBe('Fine by me.')
  })

  it('but only at the end', () => {
    expect(extractReply('> a?\nyes\n> b?\nno\n-- \nAl')).toBe('> a?\nyes\n> b?\nno\n-- \nAl')
    expect(extractReply('Sent from my phone\nis what it said.')).toBe('Sent from my phone\nis what it said.')
  })
})

describe('extractReply', () => {
  it.each([
    ['Fine by me.\n\nOn Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:\n> Lunch?', 'Fine by me.'],
    ['Fine by me.\r\n\r\nOn Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:\r\n> Lunch?', 'Fine by me.'],
    ['On Tue, 3 Mar 2026 at 09:10, Bo <bo@x.org> wrote:\n> Lunch?', undefined],
    ['Sent from my iPhone', undefined],
    ['Sent from my iPhone\n\n> On Mar 3, 2026, at 9:10 AM, Bo <bo@x.org> wrote:\n> Lunch?', undefined],
    ['> a?\nyes\n> b?\nno', undefined],
    ['  padded  \n', 'padded'],
    ['', ''],
    ['\n\n', ''],
  ])('%j', (input, output) => {
    expect(extractReply(input)).toBe(output ?? input)
  })
})
