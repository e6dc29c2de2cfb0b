import { type BounceClass, classifyBounce, enhancedStatusIn } from '../../src/index.ts'

const noEmail: BounceClass = { type: 'Permanent', subType: 'NoEmail', suppress: 'at_once' }
const general: BounceClass = { type: 'Permanent', subType: 'General', suppress: 'at_second' }
const undetermined: BounceClass = { type: 'Undetermined', subType: 'Undetermined', suppress: 'never' }
const transient = (subType: BounceClass['subType']): BounceClass => ({ type: 'Transient', subType, suppress: 'never' })
const refused = transient('ContentRejected')

const bounce = (status: string | undefined, diagnostic?: string) =>
  classifyBounce({ status, diagnostic, exhausted: true })

describe('classifyBounce', () => {
  it.each([
    '550 No valid MX for your domain',
    '501 bad domain in MAIL FROM',
    '550 Your domain us.test does not exist',
    '550 PTR for host 1.2.3.4 not found',
    '550 cannot find any mail exchanger for us.test (sender callout)',
    '550 HELO host not found',
    '550 La dirección del remitente no existe',
    '550 发件人地址不存在',
  ])('blames no address for the domain or host of the sender: %s', (diagnostic) => {
    expect(bounce('5.0.0', diagnostic)).toEqual(refused)
  })

  it.each([
    '550 Domain us.example has no valid MX record',
    '550 domain "us.example" does not exist',
    '550 5.1.8 domain us.example not found',
    '550 no MX records found for us.example',
    '550 cannot find a valid MX for us.example',
    '450 mail.us.example has no MX or A record',
  ])('knows that a missing domain is not that of the recipient: %s', (diagnostic) => {
    const about = (recipient: string) => classifyBounce({ status: '5.0.0', diagnostic, recipient, exhausted: true })
    expect(about('bo@far.test')).toEqual(refused)
    expect(about('bo@ause.example')).toEqual(refused)
    if (!diagnostic.includes('5.1.8')) expect(about('bo@us.example')).toEqual(noEmail)
  })

  it.each(['550 User unknown in domain corp.local', '550 The domain mail.far.test has no mailbox of this name'])(
    'takes a domain inside for that of the recipient: %s',
    (diagnostic) => {
      expect(classifyBounce({ diagnostic, recipient: 'bo@far.test', exhausted: true })).toEqual(noEmail)
    },
  )

  it('knows the name of the server that answers from its words', () => {
    const answer = 'host mx.spamexperts.test[1.2.3.4] said: 550 5.1.1 Recipient address rejected: User unknown'
    expect(bounce('5.1.1', answer)).toEqual(noEmail)
  })

  it.each([
    'DNS lookup failed: host not found (SERVFAIL)',
    'lookup x.org: server misbehaving: domain not found',
    'X-unix; 450 address unknown',
  ])('blames no address when a name server fails: %s', (diagnostic) => {
    expect(bounce('4.0.0', diagnostic)).toEqual(transient('General'))
  })

  it.each([
    ['5.1.1', noEmail],
    ['5.1.2', noEmail],
    ['5.1.3', noEmail],
    ['5.1.6', noEmail],
    ['5.1.10', noEmail],
    ['5.1.7', refused],
    ['5.1.8', refused],
    ['5.3.0', refused],
    ['5.3.2', refused],
    ['5.4.4', refused],
    ['5.5.0', refused],
    ['5.6.0', refused],
    ['5.7.1', refused],
    ['5.7.26', refused],
    ['5.0.0', general],
    ['5.1.0', general],
    ['5.2.1', general],
    ['5.3.5', general],
    ['4.2.2', transient('MailboxFull')],
    ['5.2.2', transient('MailboxFull')],
    ['5.2.3', transient('MessageTooLarge')],
    ['5.3.4', transient('MessageTooLarge')],
    ['4.4.1', transient('General')],
    ['4.7.1', transient('General')],
    ['4.1.1', transient('General')],
    ['2.0.0', undetermined],
    ['nonsense', undetermined],
    [undefined, undetermined],
  ])('%s', (status, expected) => {
    expect(bounce(status)).toEqual(expected)
  })

  it.each([
    ['550 5.1.1 User unknown', noEmail],
    ['smtp; 550 5.1.1 User unknown', noEmail],
    ['550 User unknown', noEmail],
    ['550 No such mailbox', noEmail],
    ['550 <bo@x.test>: Recipient address rejected: User unknown in virtual mailbox table', noEmail],
    ['550 The email account that you tried to reach does not exist', noEmail],
    ['554 Refused', general],
    ['smtp; 552 Refused', general],
    ['550 spam@mx.test: user unknown', noEmail],
    ['550 Mailbox full', transient('MailboxFull')],
    ['552 Message size exceeds fixed maximum', transient('MessageTooLarge')],
    ['554 192.0.2.5 is listed at zen.spamhaus.org', refused],
    ['550 SPF check failed', refused],
    ['550 Relay access denied', refused],
    ['554 Too many messages from your host', refused],
    ['550 Sender address rejected: Domain not found', refused],
    ['450 greylisted', transient('General')],
    ['Unrouteable', undetermined],
    ['', undetermined],
  ])('the answer %j', (diagnostic, expected) => {
    expect(bounce(undefined, diagnostic)).toEqual(expected)
  })

  it.each([
    'Client host rejected: cannot find your hostname',
    'We do not accept mail from dynamic IPs',
    'IP/domain reputation problems',
    'Too many spams from your IP',
    'Too many concurrent SMTP connections',
    'Helo command rejected: Host not found',
    'Sender unknown',
    'Bogus mail from',
    'Your message was infected with a virus',
    'Message rejected because of unacceptable content',
    'Message bounced due to organizational settings',
    'Ihr Server steht auf einer Sperrliste',
    'Votre adresse IP est sur une liste noire',
    'Su servidor figura en una lista negra',
    'Indirizzo del mittente rifiutato',
    'Remetente bloqueado',
    'Ваш IP-адрес находится в чёрном списке',
    '发件人IP在黑名单中',
  ])('blames no address for what is held against the sender: %s', (words) => {
    expect(bounce('5.0.0', `smtp; 550 ${words}`)).toEqual(refused)
  })

  it.each([
    ['The domain "far.test" has expired and does not exist', noEmail],
    ['<bo@far.test> not found', noEmail],
    ['No such local user', noEmail],
    ['This is not a valid mailbox', noEmail],
    ['User unknown in relay recipient table', noEmail],
    ['Invalid mailbox: account is disabled', general],
    ['Mailbox does not have enough space', transient('MailboxFull')],
    ['The user has too many messages on the server', transient('MailboxFull')],
    ['Daily message quota exceeded', refused],
    ['Vastaanottajan postilaatikko on täynnä', transient('MailboxFull')],
    ['Message length exceeds administrative limit', transient('MessageTooLarge')],
    ['Wiadomość jest zbyt duża', transient('MessageTooLarge')],
  ])('reads %s', (words, expected) => {
    expect(bounce('5.0.0', `smtp; 550 ${words}`)).toEqual(expected)
  })

  it.each([
    ['an unspecific status', '5.0.0', '550 5.1.1 User unknown', noEmail],
    ['an unspecific status beside words', '5.0.0', '550 user unknown', noEmail],
    ['an unspecific code in words', '5.1.1', '550 5.0.0 Failed', noEmail],
    ['the same row twice', '5.1.1', '550 5.1.10 null MX', noEmail],
    ['a block list behind a specific status', '5.1.1', '550 5.7.1 blocked using zen.spamhaus.org', refused],
    ['a block list in words only', '5.1.1', '550 blocked using zen.spamhaus.org', refused],
    ['a status of its own beside words', '5.5.0', '550 no such user', refused],
    ['two specific codes', '5.5.0', '550 5.1.1 unknown', refused],
    ['two permanent rows', '5.2.1', '550 5.1.1 unknown', { ...general, suppress: 'never' }],
    ['a code of the whole subject', '5.1.0', "550 '5.1.1 unknown", noEmail],
    ['a full mailbox until time ran out', '4.4.7', '450 4.2.2 mailbox full', transient('MailboxFull')],
    ['a rate until time ran out', '4.7.0', '421 4.7.0 Too many concurrent connections', refused],
    ['a security that was missing until time ran out', '4.7.4', 'TLS is required', transient('General')],
    ['a success that failed', '2.0.0', '550 user unknown', noEmail],
    ['a domain that nobody answered for', '4.0.0', 'DNS Error: code NXDOMAIN', noEmail],
    ['a server that may know better later', '4.0.0', '450 user unknown', transient('General')],
  ] as const)('of %s, the specific decides, and a contradiction suppresses nobody', (_of, status, text, expected) => {
    expect(bounce(status, text)).toEqual(expected)
  })

  it.each([
    ['4.2.2', undefined],
    [undefined, '451 later'],
    ['4.0.0', '450 4.1.1 User unknown'],
  ])('is none while %s %s is retried', (status, diagnostic) => {
    expect(classifyBounce({ status, diagnostic, exhausted: false })).toBeUndefined()
  })
})

describe('enhancedStatusIn', () => {
  it.each([
    ['550 5.1.1 User unknown', '5.1.1'],
    ['550-5.7.26 blocked', '5.7.26'],
    ['User unknown (5.1.1).', '5.1.1'],
    ['[192.0.2.5] said 4.2.2', '4.2.2'],
    ['550 client [5.1.1.9] refused', undefined],
    ['550 client 95.2.2.1 refused', undefined],
    ['Version 4.96.2', undefined],
    ['550 User unknown', undefined],
  ])('finds in %s: %s', (text, status) => {
    expect(enhancedStatusIn(text)).toBe(status)
  })
})
