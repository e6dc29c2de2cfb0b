import { LIMITS } from '../vocabulary/limits.ts'
import { isSingleLine } from './text.ts'

const MID_URL = /^mid:([^/]+)\/([^/]+)$/i

/** An attachment of a message of the sending inbox. */
export interface MidReference {
  /** With angle brackets. */
  readonly messageId: string
  readonly attachmentId: string
}

/**
 * Reads `mid:<message id without brackets, percent-encoded>/<attachment id>`, after RFC 2392 (drive 9.1).
 * @returns undefined for any other text.
 */
export function readMidUrl(url: string): MidReference | undefined {
  const [, id, attachmentId] = MID_URL.exec(url) ?? []
  if (id === undefined || attachmentId === undefined) return undefined
  const [messageId, attachment] = [decoded(id), decoded(attachmentId)]
  return messageId && attachment ? { messageId: `<${messageId}>`, attachmentId: attachment } : undefined
}

function decoded(part: string): string | undefined {
  try {
    const text = decodeURIComponent(part)
    return isSingleLine(text) && text.length < LIMITS.send.messageId ? text : undefined
  } catch {
    return undefined
  }
}
