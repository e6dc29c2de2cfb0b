import { randomBytes } from 'node:crypto'
import type { SecretBox } from '@restante/service/secrets'
import { z } from 'zod'

const headerMap = z.record(z.string(), z.string())

/** `whsec_` and the base64 of 24 random bytes (events 7.2). */
export function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`
}

/** The webhook's id is part of the seal, so that a secret of one row cannot be opened with another. */
export function sealSecret(box: SecretBox, webhookId: string, secret: string): Buffer {
  return box.seal(`secret of ${webhookId}`, secret)
}

export function openSecret(box: SecretBox, webhookId: string, sealed: Uint8Array): string {
  return box.open(`secret of ${webhookId}`, sealed)
}

export function sealHeaders(box: SecretBox, webhookId: string, headers: Readonly<Record<string, string>>): Buffer {
  return box.seal(`headers of ${webhookId}`, JSON.stringify(headers))
}

export function openHeaders(box: SecretBox, webhookId: string, sealed: Uint8Array): Record<string, string> {
  return headerMap.parse(JSON.parse(box.open(`headers of ${webhookId}`, sealed)))
}
