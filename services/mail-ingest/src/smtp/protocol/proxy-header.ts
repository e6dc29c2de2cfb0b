import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The client that a proxy speaks for. */
export interface ProxiedClient {
  readonly address: string
  readonly port: number
}

export type ProxyHeader =
  /** More bytes are needed. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'broken'; readonly problem: string }
  /** The header takes `length` bytes. Without a client the proxy speaks for itself: a check, or an unknown protocol. */
  | { readonly kind: 'whole'; readonly length: number; readonly client: ProxiedClient | undefined }

/** Beginning of a header of version 2. No command of SMTP begins so. */
export const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const TEXT_BEGINNING = Buffer.from('PROXY ')
/** A header of version 1, its CR LF included, has at most this many bytes. */
const TEXT_BYTES = 107
/** The fixed part of version 2: the signature, the command, the family, the length of the rest. */
const FIXED_BYTES = 16
/** Most bytes of addresses and extensions that are read. The largest extensions, of TLS, take some hundred. */
const MOST_BYTES = 4_096

const CR = 0x0d
const LF = 0x0a

/** `PROXY TCP4 203.0.113.5 198.51.100.7 51234 25`, without its CR LF. One space, no leading zeros. */
const TEXT = /^PROXY (TCP4|TCP6) (\S+) (\S+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})$/

/**
 * Reads a header of the PROXY protocol, version 1 or 2, from the first bytes of a connection, strictly: only TCP over IP
 * and the two forms in which a proxy speaks for itself (`UNKNOWN`, `LOCAL`) are accepted.
 * @see https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsLike(bytes, SIGNATURE)) return bytes.length < FIXED_BYTES ? { kind: 'incomplete' } : readBinary(bytes)
  if (beginsLike(bytes, TEXT_BEGINNING)) return readText(bytes)
  return broken('no header of the PROXY protocol')
}

/** Whether all bytes that have arrived, up to the length of `beginning`, are those of `beginning`. */
function beginsLike(bytes: Buffer, beginning: Buffer): boolean {
  const length = Math.min(bytes.length, beginning.length)
  return bytes.subarray(0, length).equals(beginning.subarray(0, length))
}

function readText(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, TEXT_BYTES).indexOf(LF)
  if (end < 0) return bytes.length < TEXT_BYTES ? { kind: 'incomplete' } : broken('a line that is too long')
  if (bytes[end - 1] !== CR) return broken('a line without CR')
  const line = bytes.subarray(0, end - 1).toString('latin1')
  const length = end + 1
  // What follows UNKNOWN has no meaning.
  if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN ')) return { kind: 'whole', length, client: undefined }
  const [, family, source = '', destination = '', port, otherPort] = TEXT.exec(line) ?? []
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6
  if (family === undefined || !isAddress(source) || !isAddress(destination)) return broken('a malformed line')
  if (Number(port) > 65_535 || Number(otherPort) > 65_535) return broken('a malformed port')
  return { kind: 'whole', length, client: { address: normalized(source), port: Number(port) } }
}

const LOCAL = 0x20
const PROXY = 0x21
const UNSPECIFIED = 0x00
const TCP4 = 0x11
const TCP6 = 0x21

function readBinary(bytes: Buffer): ProxyHeader {
  const [command, family] = [bytes[12], bytes[13]]
  const rest = bytes.readUInt16BE(14)
  if (command !== LOCAL && command !== PROXY) return broken('an unknown version or command')
  if (rest > MOST_BYTES) return broken('extensions that are too long')
  const length = FIXED_BYTES + rest
  if (bytes.length < length) return { kind: 'incomplete' }
  const block = bytes.subarray(FIXED_BYTES, length)
  // The receiver must accept LOCAL whatever family follows, and ignore it.
  if (command === LOCAL || family === UNSPECIFIED) return { kind: 'whole', length, client: undefined }
  const [size, ports] = family === TCP4 ? [4, 8] : family === TCP6 ? [16, 32] : []
  if (size === undefined || ports === undefined) return broken('a protocol other than TCP over IP')
  if (block.length < ports + 4) return broken('addresses that are cut off')
  const address = ipaddr.fromByteArray([...block.subarray(0, size)]).toString()
  return { kind: 'whole', length, client: { address: normalized(address), port: block.readUInt16BE(ports) } }
}

/** An IPv4 address that is written as an IPv6 one counts as the former, in limits and in networks. */
function normalized(address: string): string {
  return ipaddr.process(address).toString()
}

function broken(problem: string): ProxyHeader {
  return { kind: 'broken', problem }
}
