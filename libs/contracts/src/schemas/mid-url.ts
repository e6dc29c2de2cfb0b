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
  try {
    return { messageId: `<${decodeURIComponent(id)}>`, attachmentId: decodeURIComponent(attachmentId) }
  } catch {
    return undefined
  }
}
