const ATOM = "[\\w!#$%&'*+/=?^`{|}~\\-\\u00a1-\\u{10ffff}]+"
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const ADDRESS = new RegExp(`^(${ATOM}(?:\\.${ATOM})*)@(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`, 'iu')
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const utf8 = new TextEncoder()

/**
 * Whether a code can be mailed to an address: a dot-atom (RFC 5322 3.4.1, RFC 6531) and a domain name of two labels or
 * more, in A-labels. No quoted local part, no address literal: an address that is accepted here and cannot be mailed
 * would leave an agent waiting.
 */
export function isMailAddress(text: string): boolean {
  const [, local] = ADDRESS.exec(text) ?? []
  if (local === undefined || !text.isWellFormed()) return false
  return utf8.encode(local).length <= MAX_LOCAL && utf8.encode(text).length <= MAX_ADDRESS
}
