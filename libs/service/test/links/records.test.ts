import {
  bareRecord,
  headOfData,
  LinkError,
  type LinkRecord,
  MOST_CHANNELS,
  RecordReader,
  WINDOW,
} from '../../src/links/records.ts'

/** What a reader takes from bytes that arrive in pieces. */
function read(...pieces: readonly Buffer[]): LinkRecord[] {
  const records: LinkRecord[] = []
  const reader = new RecordReader((record) => records.push(record))
  for (const piece of pieces) reader.read(piece)
  return records
}

function data(channels: readonly number[], bytes: string): Buffer {
  return Buffer.concat([headOfData(channels, bytes.length), Buffer.from(bytes)])
}

/** A head with any numbers. */
function head(code: number, first: number, second: number): Buffer {
  const bytes = Buffer.alloc(9)
  bytes.writeUInt8(code)
  bytes.writeUInt32BE(first, 1)
  bytes.writeUInt32BE(second, 5)
  return bytes
}

const ALL = Buffer.concat([
  bareRecord('open', 1),
  data([1], 'for one'),
  data([1, 70_000, 4_294_967_295], 'for three'),
  bareRecord('credit', 1, WINDOW),
  bareRecord('end', 1),
  bareRecord('abort', 70_000),
  bareRecord('leaving'),
  bareRecord('ping'),
])
const RECORDS: readonly LinkRecord[] = [
  { kind: 'open', channel: 1 },
  { kind: 'data', channels: [1], bytes: Buffer.from('for one') },
  { kind: 'data', channels: [1, 70_000, 4_294_967_295], bytes: Buffer.from('for three') },
  { kind: 'credit', channel: 1, bytes: WINDOW },
  { kind: 'end', channel: 1 },
  { kind: 'abort', channel: 70_000 },
  { kind: 'leaving' },
  { kind: 'ping' },
]

describe('the records of a link', () => {
  it('are read as they were written', () => {
    expect(read(ALL)).toEqual(RECORDS)
  })

  it('may be split at any byte', () => {
    for (let at = 0; at <= ALL.length; at++) expect(read(ALL.subarray(0, at), ALL.subarray(at))).toEqual(RECORDS)
    expect(read(...Array.from(ALL, (byte) => Buffer.from([byte])))).toEqual(RECORDS)
  })

  it('keep no memory of what they were read from', () => {
    const [, record] = read(ALL)
    if (record?.kind !== 'data') throw new Error('no data')
    expect(record.bytes.buffer).not.toBe(ALL.buffer)
    expect(record.bytes.buffer.byteLength).toBe(4 + 'for one'.length)
  })

  it.each([
    ['of kind 7', head(7, 0, 0)],
    ['of kind 255', head(255, 1, 1)],
    ['of data for no channel', head(0, 0, 1)],
    ['of data for too many channels', head(0, MOST_CHANNELS + 1, 1)],
    ['of data for four billion channels', head(0, 0xffff_ffff, 0xffff_ffff)],
    ['of no data', head(0, 1, 0)],
    ['of more data than a window', head(0, 1, WINDOW + 1)],
  ])('are refused: one %s', (_what, bytes) => {
    expect(() => read(bytes)).toThrow(LinkError)
  })

  it('may be as large as the window, for as many channels as one record holds', () => {
    const channels = Array.from({ length: MOST_CHANNELS }, (_, index) => index + 1)
    expect(read(headOfData(channels, WINDOW), Buffer.alloc(WINDOW, 1))).toEqual([
      { kind: 'data', channels, bytes: Buffer.alloc(WINDOW, 1) },
    ])
  })
})
