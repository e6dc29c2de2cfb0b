import { randomBytes } from 'node:crypto'

/** Eight letters and digits: short enough for names of databases, topics and mailboxes, and unique. */
export function randomName(): string {
  return randomBytes(4).toString('hex')
}
