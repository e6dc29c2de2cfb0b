import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { readCookie } from '../http/cookies.ts'

const COOKIE_BYTES = 32
const COOKIE = /^[\w-]{43}$/

/** The cookie by which a browser owns an enrollment. */
export interface EnrollmentCookie {
  readonly name: string
  readonly value: string
}

/** A new cookie: one for each enrollment, so that two in one browser do not end each other. */
export function newCookie(enrollmentId: string): EnrollmentCookie {
  return { name: nameOf(enrollmentId), value: randomBytes(COOKIE_BYTES).toString('base64url') }
}

/** What is stored of a cookie. */
export function hashOf(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}

/** Whether a request comes from the browser that began an enrollment. */
export function ownsEnrollment(
  request: IncomingMessage,
  enrollment: { readonly id: string; readonly cookie_hash: Uint8Array },
): boolean {
  const value = readCookie(request, nameOf(enrollment.id))
  if (value === undefined || !COOKIE.test(value)) return false
  return timingSafeEqual(hashOf(value), enrollment.cookie_hash)
}

function nameOf(enrollmentId: string): string {
  return `__Host-enroll-${createHash('sha256').update(enrollmentId).digest('hex').slice(0, 8)}`
}
