/**
 * The words of a name, or of what a caller searches for, in the form in which both are compared (apps 1): compatibility
 * forms and case folded, one blank between two words. May be empty.
 */
export function nameKey(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '')
    .join(' ')
}
