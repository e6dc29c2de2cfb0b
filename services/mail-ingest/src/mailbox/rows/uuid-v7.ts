import { randomBytes } from 'node:crypto'

/**
 * The lowest UUID of version 7 with a given time: the start of a search from that time on.
 * @param time milliseconds since the epoch
 */
export function firstUuidV7(time: number): string {
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

let lastTime = 0
let sequence = 0

/**
 * A UUID that sorts by the time it was made (RFC 9562 5.7): milliseconds, then a counter within the millisecond, then
 * random bits. Each UUID of a process is greater than the previous ones.
 */
export function uuidV7(now = Date.now()): string {
  sequence = now > lastTime ? 0 : sequence + 1
  lastTime = Math.max(now, lastTime)
  if (sequence > 0xfff) {
    lastTime++
    sequence = 0
  }
  const time = lastTime.toString(16).padStart(12, '0')
  const counter = sequence.toString(16).padStart(3, '0')
  const random = randomBytes(8)
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x80, 0)
  const tail = random.toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${tail.slice(0, 4)}-${tail.slice(4)}`
}
