const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/

/**
 * Response headers for a file of untrusted origin: browsers download it and never render it, whatever type it claims
 * (RFC 6266; mail 16).
 */
export function attachmentHeaders(contentType: string, filename: string, size: number): Record<string, string> {
  return {
    'content-type': MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream',
    'content-length': String(size),
    'content-disposition': contentDisposition(filename),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, no-store',
  }
}

/** Response headers for the text of such a file, which is UTF-8 whatever the file was. */
export function textHeaders(filename: string, size: number): Record<string, string> {
  return { ...attachmentHeaders('text/plain', filename, size), 'content-type': 'text/plain; charset=utf-8' }
}

/** A file name in plain ASCII for old clients, and unchanged in UTF-8 (RFC 8187) for the others. */
function contentDisposition(filename: string): string {
  const name = filename.replace(/[\p{Cc}/\\]/gu, '_')
  const plain = name.replace(/[^\x20-\x7e]|["%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
