const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * The text without the characters that change its direction (U+202A-U+202E, U+2066-U+2069): they let a sender show
 * `exe.gpj` as `jpg.exe`, and one name as another (mail 13).
 */
export function withoutDirections(text: string): string {
  return text.replace(DIRECTIONS, '')
}
