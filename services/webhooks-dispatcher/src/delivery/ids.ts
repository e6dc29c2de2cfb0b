import { randomInt } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 27

/** A prefix and 27 base62 characters (160 random bits): `ep_...` identifies a webhook, `msg_...` a delivery. */
export function base62Id(prefix: 'ep_' | 'msg_'): string {
  return prefix + Array.from({ length: LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join('')
}
