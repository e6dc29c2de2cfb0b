export function shownText(text: string): string {
  return text
}
export function shownLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
