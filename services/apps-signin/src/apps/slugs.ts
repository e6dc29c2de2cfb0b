/** A slug, or what a caller writes in its place, in the form in which both are compared (apps 1.1). May be empty. */
export function slugKey(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}
