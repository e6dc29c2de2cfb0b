import { MailPeer, SmtpSession, sendMail } from '../src/index.ts'

describe('a mail peer', () => {
  let peer: MailPeer
  beforeEach(async () => {
    peer = await new MailPeer().start()
  })
  afterEach(() => peer.stop())

  const mail = { from: 'ann@one.test', subject: 'Größe', text: 'Hello\n.\nthere' }

  it('stores accepted mail, byte for byte and parsed', async () => {
    await sendMail({ ...mail, port: peer.port, to: 'bo@peer.test' })
    const received = await peer.next('bo@peer.test')
    expect(received).toMatchObject({ mailFrom: 'ann@one.test', recipients: ['bo@peer.test'], secure: true })
    expect(received.parsed).toMatchObject({ subject: 'Größe', text: 'Hello\n.\nthere\n' })
    expect(received.raw.toString()).toContain('\r\n.\r\nthere')
  })

  it('answers an address as scripted, attempt by attempt', async () => {
    peer.answerRecipient('bo@peer.test', '450 4.2.0 later', '550 5.1.1 gone')
    const session = await SmtpSession.open(peer.port)
    expect(await session.envelope('ann@one.test', 'bo@peer.test')).toEqual({ code: 450, text: '4.2.0 later' })
    expect(await session.command('RCPT TO:<bo@peer.test>')).toEqual({ code: 550, text: '5.1.1 gone' })
    expect(await session.command('RCPT TO:<bo@peer.test>')).toMatchObject({ code: 250 })
    await session.quit()
    expect(peer.attempts).toEqual(['bo@peer.test', 'bo@peer.test', 'bo@peer.test'])
  })

  it('refuses a mail after its content', async () => {
    peer.answerData('bo@peer.test', '554 5.7.1 spam')
    await expect(sendMail({ ...mail, port: peer.port, to: 'bo@peer.test' })).rejects.toMatchObject({
      responseCode: 554,
    })
    expect(peer.mails).toEqual([])
  })

  it('breaks the connection in the middle of a mail', async () => {
    peer.answerData('bo@peer.test', 'drop')
    const session = await SmtpSession.open(peer.port)
    await session.envelope('ann@one.test', 'bo@peer.test')
    await session.command('DATA')
    session.write('Subject: half\r\n\r\nhal')
    await expect(session.reply()).rejects.toThrow()
    expect(peer.mails).toEqual([])
  })

  it('stores nothing of a mail whose sender disconnects', async () => {
    const session = await SmtpSession.open(peer.port)
    await session.envelope('ann@one.test', 'bo@peer.test')
    await session.command('DATA')
    session.write('Subject: half\r\n\r\nhal')
    session.drop()
    await sendMail({ ...mail, port: peer.port, to: 'bo@peer.test' })
    expect(peer.mails).toHaveLength(1)
  })

  it('offers no encryption when configured so', async () => {
    const plain = await new MailPeer({ tls: false }).start()
    await sendMail({ ...mail, port: plain.port, to: 'bo@peer.test' })
    expect((await plain.next('bo@peer.test')).secure).toBe(false)
    await plain.stop()
  })

  it('lets a session go on encrypted', async () => {
    const session = await SmtpSession.open(peer.port)
    await session.command('EHLO client.test')
    await session.startTls()
    await session.envelope('ann@one.test', 'bo@peer.test')
    expect(await session.data('Subject: s\r\n\r\n.hidden dot')).toMatchObject({ code: 250 })
    await session.quit()
    expect((await peer.next('bo@peer.test')).raw.toString()).toBe('Subject: s\r\n\r\n.hidden dot\r\n')
  })
})
