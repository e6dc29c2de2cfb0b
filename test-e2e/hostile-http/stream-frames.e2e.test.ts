import { type StreamClient, underLoad, waitFor } from '@restante/testkit'
import { connectStream } from '../support/streams.ts'
import { useSystem } from '../support/suite.ts'
import { createTenant } from '../support/tenants.ts'
import { handshake, RawSocket } from './raw-socket.ts'

const TEXT = 0x81
const PING = 0x89
const PONG = 0x8a
/** A mask of zeroes leaves the bytes unchanged. */
const MASK = Buffer.alloc(4)

/** One frame of a client, with the length in the shortest form. */
function frame(first: number, payload: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(payload)
  return Buffer.concat([lengthOf(first, bytes.length), MASK, bytes])
}

function lengthOf(first: number, length: number): Buffer {
  if (length < 126) return Buffer.from([first, 0x80 | length])
  if (length < 0x1_0000) return Buffer.from([first, 0x80 | 126, length >> 8, length & 0xff])
  const head = Buffer.alloc(10)
  head.set([first, 0x80 | 127])
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

/** The code of the close frame that the server sent at the end. */
function closeCode(text: string): number {
  const bytes = Buffer.from(text, 'latin1')
  const at = bytes.lastIndexOf(0x88)
  return bytes.readUInt16BE(at + 2)
}

describe('a stream whose client sends', () => {
  const system = useSystem()

  async function open(): Promise<RawSocket> {
    const raw = RawSocket.to(system.endpoints.gatewayUrl, handshake(system.tenant.key))
    await raw.reads(/^HTTP\/1\.1 101 /)
    return raw
  }

  it.each([
    ['a frame without a mask', Buffer.from([TEXT, 2, 0x7b, 0x7d]), 1002],
    ['an unknown opcode', frame(0x83, 'x'), 1002],
    ['reserved bits', frame(0xf1, 'x'), 1002],
    ['half a ping', frame(0x09, 'x'), 1002],
    ['a ping that is too long', frame(PING, 'x'.repeat(126)), 1002],
    ['the rest of a message that never began', frame(0x80, 'x'), 1002],
    ['a message inside another', Buffer.concat([frame(0x01, 'x'), frame(TEXT, 'y')]), 1002],
    ['a close frame of one byte', frame(0x88, 'x'), 1002],
    ['a close code that may not be sent', frame(0x88, Buffer.from([0x03, 0xed])), 1002],
    ['text that is no UTF-8', frame(TEXT, Buffer.from([0xc3, 0x28])), 1007],
    ['a frame of 10 GB, of which nothing comes', Buffer.concat([lengthOf(TEXT, 10_000_000_000), MASK]), 1009],
    ['a length beyond all numbers', Buffer.from([TEXT, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), 1009],
    ['a frame above the limit', frame(TEXT, 'x'.repeat(70_000)), 1009],
    [
      'a message above the limit, in pieces',
      Buffer.concat([frame(0x01, 'x'), ...Array.from({ length: 35 }, () => frame(0x00, 'x'.repeat(2_000)))]),
      1009,
    ],
    ['10,000 pings at once', Buffer.concat(Array.from({ length: 10_000 }, () => frame(PING, 'x'))), 1008],
    ['100 pongs that no ping asked for', Buffer.concat(Array.from({ length: 100 }, () => frame(PONG, 'x'))), 1008],
    [
      '100 empty parts of a message that does not end',
      Buffer.concat([frame(0x01, 'x'), ...Array.from({ length: 100 }, () => frame(0x00))]),
      1008,
    ],
    ['10,000 messages at once', Buffer.concat(Array.from({ length: 10_000 }, () => frame(TEXT, '{}'))), 1008],
  ])('%s is closed with its code', async (_what, sent, code) => {
    const raw = await open()
    raw.socket.write(sent)
    expect(closeCode(await raw.ends())).toBe(code)
  })

  it('nonsense in a valid frame gets an error, and stays open', async () => {
    const stream = await connectStream(system.endpoints, system.tenant.key)
    const nonsense = [
      '',
      'nonsense',
      '[]',
      'null',
      '{"type":"__proto__"}',
      `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
      `${'{"type":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
      Buffer.from('{"type":"subscribe"}'),
    ]
    for (const text of nonsense) expect(await stream.ask(text)).toEqual({ message: 'Forbidden' })
    for (const filter of [
      { inbox_ids: 'x' },
      { event_types: [1] },
      { pod_ids: [{}] },
      { inbox_ids: ['a\u0000b@c.test'] },
    ]) {
      expect(await stream.ask({ type: 'subscribe', ...filter })).toMatchObject({ type: 'error' })
    }
    expect(await stream.ask({ type: 'subscribe' })).toMatchObject({ type: 'subscribed' })
    await stream.close()
  })

  it('nothing, on a thousand connections of one key: the next is refused, and all other keys are served', async () => {
    const { endpoints } = system
    const crowd = await createTenant(endpoints)
    const idle: RawSocket[] = []
    const times: number[] = []
    for (let round = 0; round < 20; round++) {
      const some = Array.from({ length: 50 }, () => RawSocket.to(endpoints.gatewayUrl, handshake(crowd.key)))
      const began = performance.now()
      expect((await system.tenant.api.get('/v0/auth/me')).status).toBe(200)
      times.push(performance.now() - began)
      await Promise.all(some.map((raw) => raw.reads(/^HTTP\/1\.1 101 /)))
      idle.push(...some)
    }
    await RawSocket.to(endpoints.gatewayUrl, handshake(crowd.key)).reads(/^HTTP\/1\.1 429 /)
    const other: StreamClient = await connectStream(endpoints, system.tenant.key)
    expect(await other.ask({ type: 'subscribe' })).toMatchObject({ type: 'subscribed' })
    await other.close()
    // Half of them: the machine has other work.
    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(underLoad(1_000))
    for (const { socket } of idle) socket.destroy()
    const free = async () => {
      const stream = await connectStream(endpoints, crowd.key)
      await stream.close()
      return true
    }
    await waitFor(free, { what: 'a connection to be free again' })
  })
})
