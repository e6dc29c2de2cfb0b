/** What an unquoted display name may consist of: atoms (RFC 5322 3.2.3, RFC 6532) and spaces. */
const PHRASE = /^[\w!#$%&'*+/=?^`{|}~\-\u0080-\u{10ffff} ]+$/u

/** `Name <address>`, the name quoted where RFC 5322 3.2.5 needs it; the bare address when there is no name. */
export function formatAddress(displayName: string | undefined, address: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a control character must not get into a header
  const name = (displayName ?? '').replace(/[\x00-\x1f\x7f\s]+/g, ' ').trim()
  if (name === '') return address
  if (PHRASE.test(name)) return `${name} <${address}>`
  return `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`
}
