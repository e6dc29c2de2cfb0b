const CLOSING_BRACE = '}'.charCodeAt(0)

/**
 * A document with one more member, its cursor, at the end. The bytes before it are those that every other subscriber
 * gets: the document is not decoded.
 */
export function withCursor(document: Buffer, cursor: string): Buffer {
  if (document.at(-1) !== CLOSING_BRACE) throw new TypeError('the document of an event is not a JSON object')
  // A cursor consists of characters of base64url, none of which JSON escapes.
  return Buffer.concat([document.subarray(0, -1), Buffer.from(`,"cursor":"${cursor}"}`)])
}
