import { waitFor } from '@restante/testkit'
import { type Edge, openEdge } from './support/edge.ts'
import { Peer } from './support/peer.ts'

const MAX_RECIPIENTS = 3
/** Commands of one connection without a mail: those that no transaction needs, and its recipients. */
const MAX_COMMANDS = 1_000 + MAX_RECIPIENTS

let edge: Edge

beforeAll(async () => {
  edge = await openEdge({ SMTP_MAX_RECIPIENTS: String(MAX_RECIPIENTS), SMTP_PEER_CONNECTIONS: '4' })
})
afterAll(() => edge.stop())

describe('an SMTP command', () => {
  const session = async (): Promise<Peer> => {
    const peer = await Peer.greeted(edge.port)
    await peer.command('EHLO evil.test')
    return peer
  }

  it.each([
    ['MAIL FROM:<eve@evil.test> SIZE=41943041', 552],
    ['MAIL FROM:<eve@evil.test> SIZE=99999999999999999999', 552],
    ['MAIL FROM:<eve@evil.test> SIZE=1e9', 501],
    ['MAIL FROM:<eve@evil.test> SIZE=-1', 501],
    ['MAIL FROM:<eve@evil.test> SIZE=', 501],
    ['MAIL FROM:<eve@evil.test> SIZE=1 SIZE=2', 501],
    ['MAIL FROM:<eve@evil.test> BODY=BINARYMIME', 501],
    ['MAIL FROM:<eve@evil.test> ENVID=a+0D+0AReceived: forged', 501],
    ['MAIL FROM:eve@evil.test', 501],
    ['MAIL FROM:<eve@evil.test', 501],
    ['MAIL FROM:<eve@evil.test><', 501],
    ['MAIL FROM:<eve@@evil.test>', 501],
    ['MAIL FROM:<eve@evil.test\u0085>', 553],
    [`MAIL FROM:<${'e'.repeat(300)}@evil.test>`, 501],
    ['RCPT TO:<eve@mail.test>', 503],
    ['DATA', 503],
    ['BDAT 10 LAST', 500],
    ['XCLIENT ADDR=10.0.0.1', 500],
    ['XFORWARD ADDR=10.0.0.1', 500],
    ['VRFY root', 500],
    ['EXPN staff', 500],
    ['ETRN #queue', 500],
    ['WIZ', 500],
    ['', 500],
    [`EHLO ${'e'.repeat(400)}`, 501],
    ['EHLO ', 501],
    [`${'NOOP '.padEnd(4_000, 'x')}`, 250],
  ])('%j is answered %i', async (line, code) => {
    const peer = await session()
    expect((await peer.command(line)).code).toBe(code)
    expect((await peer.command('NOOP')).code).toBe(250)
    peer.drop()
  })

  it.each([
    ['that is too long', `NOOP ${'x'.repeat(4_100)}\r\n`],
    ['that never ends', 'x'.repeat(1024 * 1024)],
    ['of two megabytes', `EHLO ${'x'.repeat(2 * 1024 * 1024)}\r\n`],
  ])('%s ends the session', async (_, bytes) => {
    const peer = await session()
    peer.said = ''
    peer.send(bytes)
    await peer.hears(/^521 5\.5\.2 Refused for a command that is too long: /)
    await peer.closed()
  })

  it('is not run when the connection ends before its line', async () => {
    const { address, mails } = edge.destination()
    const peer = await session()
    await peer.begin(address)
    peer.socket.end('Subject: cut off\r\n\r\nx\r\n.')
    await peer.closed()
    const other = await session()
    other.said = ''
    other.socket.end('NOOP')
    await other.closed()
    expect(other.said).toBe('')
    expect(await mails()).toEqual([])
  })

  it('may contain characters outside ASCII only in addresses of a transaction with SMTPUTF8', async () => {
    const grüße = Buffer.from('grüße').toString('latin1')
    const { address } = edge.destination()
    const peer = await session()
    for (const line of [
      `MAIL FROM:<${grüße}@evil.test>`,
      `EHLO ${grüße}`,
      `MAIL FROM:<gr\xfc\xdfe@evil.test> SMTPUTF8`,
    ]) {
      expect((await peer.command(line)).text).toMatch(/^553 5\.6\.7 /)
    }
    expect((await peer.command('MAIL FROM:<eve@evil.test>')).code).toBe(250)
    expect((await peer.command(`RCPT TO:<${grüße}@bounces.mail.test>`)).code).toBe(553)
    expect((await peer.command('RSET')).code).toBe(250)
    expect((await peer.command(`MAIL FROM:<${grüße}@evil.test> SMTPUTF8`)).code).toBe(250)
    expect((await peer.command(`RCPT TO:<${address}>`)).code).toBe(250)
    peer.drop()
  })
})

describe('a hostile SMTP session', () => {
  it('is offered no BDAT, CHUNKING or BINARYMIME, and no XCLIENT', async () => {
    const peer = await Peer.greeted(edge.port)
    const { text } = await peer.command('EHLO evil.test')
    expect(text).not.toMatch(/CHUNKING|BINARYMIME|XCLIENT|XFORWARD|AUTH/)
    peer.drop()
  })

  it.each(['NOOP', 'RSET', 'EHLO evil.test', 'MAIL FROM:<eve@evil.test>'])(
    'ends after so many %s without a mail, each of them answered',
    async (line) => {
      const peer = await Peer.greeted(edge.port)
      await peer.command('EHLO evil.test')
      peer.said = ''
      peer.send(`${line}\r\n`.repeat(2 * MAX_COMMANDS))
      await peer.closed()
      expect(peer.codes).toHaveLength(MAX_COMMANDS)
      expect(peer.said).toMatch(/421 4\.7\.0 Too many commands without a mail\r\n$/)
    },
  )

  it('ends after ten unknown commands', async () => {
    const peer = await Peer.greeted(edge.port)
    peer.said = ''
    peer.send('GARBAGE\r\n'.repeat(50))
    await peer.closed()
    expect(peer.codes).toEqual([500, 500, 500, 500, 500, 500, 500, 500, 500, 421])
  })

  it('may continue for as long as it delivers mail', async () => {
    const { address, mails } = edge.destination()
    const peer = await Peer.greeted(edge.port)
    for (const subject of ['first', 'second']) {
      peer.said = ''
      const noops = MAX_COMMANDS - 10
      peer.send('NOOP\r\n'.repeat(noops))
      // Each has its reply, which must not be taken for that of a command behind them.
      await waitFor(() => peer.codes.length === noops, { what: 'the replies' })
      await peer.begin(address)
      expect((await peer.command(`Subject: ${subject}\r\n\r\nx\r\n.`)).code).toBe(250)
    }
    expect(await mails()).toHaveLength(2)
    peer.drop()
  })

  it('accepts recipients up to the limit, refuses the others, and delivers to the first', async () => {
    const destinations = Array.from({ length: MAX_RECIPIENTS + 200 }, () => edge.destination())
    const peer = await Peer.greeted(edge.port)
    await peer.command('EHLO evil.test')
    peer.said = ''
    peer.send('MAIL FROM:<eve@evil.test>\r\n')
    for (const { address } of destinations) peer.send(`RCPT TO:<${address}>\r\n`)
    peer.send('DATA\r\nx\r\n.\r\n')
    await peer.hears(/queued as/)
    const taken = Array.from({ length: MAX_RECIPIENTS + 1 }, () => 250)
    expect(peer.codes).toEqual([...taken, ...Array.from({ length: 200 }, () => 452), 354, 250])
    expect(await destinations[0]?.mails()).toHaveLength(1)
    expect(await destinations[MAX_RECIPIENTS]?.mails()).toEqual([])
    peer.drop()
  })

  it('is refused before the greeting when its client has too many connections', async () => {
    const open = await Promise.all(Array.from({ length: 4 }, () => Peer.greeted(edge.port, '127.0.0.9')))
    const crowd = await Promise.all(Array.from({ length: 50 }, () => Peer.connect(edge.port, '127.0.0.9')))
    for (const peer of crowd) {
      await peer.closed()
      expect(peer.said).toMatch(/^421 4\.7\.0 Too many connections from your address/)
    }
    const other = await Peer.greeted(edge.port)
    for (const peer of [...open, other]) peer.drop()
  })
})
