/**
 * An address as its owner recognizes it and nobody else learns it: the first character and the domain. Mail is
 * forwarded, and with it the link to the page that shows this.
 */
export function masked(address: string): string {
  const at = address.lastIndexOf('@')
  const [first = ''] = address.slice(0, at)
  return `${at > 1 ? first : ''}•••${address.slice(at)}`
}
