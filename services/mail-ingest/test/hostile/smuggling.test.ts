import { type Edge, openEdge } from './support/edge.ts'
import { Peer } from './support/peer.ts'

let edge: Edge

beforeAll(async () => {
  edge = await openEdge()
})
afterAll(() => edge.stop())

/**
 * What some server or other has taken for the end of a mail: SEC Consult's list of 2023 and its additions, CVE-2023-51764
 * (Postfix), CVE-2023-51765 (Sendmail), CVE-2023-51766 (Exim), CVE-2024-27305 (aiosmtpd), and Postfix's own CR CR LF.
 */
const FALSE_ENDS = [
  '\n.\n',
  '\n.\r',
  '\r.\n',
  '\r.\r',
  '\n.\r\n',
  '\r.\r\n',
  '\n\n.\r\n',
  '\r\n.\n',
  '\r\n.\r',
  '\r\n.\r\r\n',
  '\r\r\n.\r\n',
  '\r\r\n.\r\r\n',
  '\r\n\0.\r\n',
  '\r\n.\0\r\n',
  '\r\n\0.\n',
  '\r\n\0.\r',
  '\r\n\x1a.\r\n',
] as const
/** The same where the mail begins: the line break before it is that of DATA. */
const FALSE_STARTS = ['.\n', '.\r', '.\r\r\n', '\n.\r\n', '\n.\n', '\r.\r\n', '\0.\r\n', '.\0\r\n'] as const

const commands = (recipient: string): string =>
  `MAIL FROM:<admin@mail.test>\r\nRCPT TO:<${recipient}>\r\nDATA\r\nSubject: smuggled\r\n\r\nx`

describe('a false end of data', () => {
  it.each([...FALSE_ENDS.map((end) => `Subject: outer\r\n\r\nwords${end}`), ...FALSE_STARTS])(
    'makes %j no mail, and what follows no commands',
    async (start) => {
      const { address, mails } = edge.destination()
      const content = `${start}${commands(address)}\r\n.\r\nNOOP\r\n`
      const sendings = [(peer: Peer) => peer.send(content), (peer: Peer) => peer.sendBytes(content)]
      await Promise.all(
        sendings.map(async (send) => {
          const peer = await Peer.greeted(edge.port)
          await peer.begin(address)
          await send(peer)
          await peer.closed()
          expect(peer.said).toMatch(/^554 5\.6\.0 Refused for .*\r\n$/)
        }),
      )
      expect(await mails()).toEqual([])
    },
  )
})

describe('the true end of data', () => {
  it.each([
    ['', ''],
    ['..\r\n', '.\r\n'],
    ['...\r\n', '..\r\n'],
    ['x\r\n..\r\n...\r\ny\r\n', 'x\r\n.\r\n..\r\ny\r\n'],
    // Blanks around a dot end a mail nowhere, and patches are full of them.
    [' .\r\n.. \r\n\t.\r\n', ' .\r\n. \r\n\t.\r\n'],
    ['a\x85.\x85b\r\n', 'a\x85.\x85b\r\n'],
  ])('ends %j, in one packet and in many, and the following input is the next command', async (sent, stored) => {
    const { address, mails } = edge.destination()
    const peer = await Peer.greeted(edge.port)
    await peer.begin(address)
    peer.send(`${sent}.\r\nNOOP\r\n`)
    await peer.hears(/\r\n250 /)
    await peer.begin(address)
    await peer.sendBytes(`${sent}.\r\n`)
    await peer.hears(/^250 /)
    expect(await mails()).toEqual([stored, stored])
    peer.drop()
  })
})

describe('a bare CR or LF', () => {
  it.each(['Subject: a\nb\r\n\r\nx\r\n', 'Subject: a\rb\r\n\r\nx\r\n', 'Subject: a\r\n\r\nx\ny\r\n', 'x\r\n\n', 'x\r'])(
    'makes %j no mail',
    async (content) => {
      const { address, mails } = edge.destination()
      const peer = await Peer.greeted(edge.port)
      await peer.begin(address)
      peer.send(`${content}\r\n.\r\n`)
      await peer.hears(/^554 5\.6\.0 /)
      expect(await mails()).toEqual([])
      peer.drop()
    },
  )

  it.each([
    ['a bare LF', '\n'],
    ['a bare LF', 'NOOP\n'],
    ['a bare LF', 'EHLO evil.test\nNOOP\r\n'],
    ['a bare LF', 'NO\nOP\r\n'],
    ['a bare CR', 'NOOP\r\r\n'],
    ['a bare CR', 'NO\rOP\r\n'],
    ['a bare CR', '\rNOOP\r\n'],
    ['a control character', 'NOOP\0\r\n'],
    ['a control character', 'MAIL FROM:<a\x08@evil.test>\r\n'],
  ])('ends a session: %s in the command %j', async (reason, line) => {
    const { address, mails } = edge.destination()
    const peer = await Peer.greeted(edge.port)
    await peer.command('EHLO evil.test')
    peer.said = ''
    peer.send(`${line}${commands(address)}\r\n.\r\n`)
    await peer.closed()
    expect(peer.said).toMatch(new RegExp(`^521 5\\.5\\.2 Refused for ${reason}: .*\r\n$`))
    expect(await mails()).toEqual([])
  })
})
