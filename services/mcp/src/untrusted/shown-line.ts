import { cutAt } from './cut.ts'
import { shownText } from './shown-text.ts'

/** Long enough for every subject and name that is written to be read. */
export const MAX_LINE_CHARS = 300

/**
 * A subject, name, file name or label as one line: `shownText` with each run of white space as one space. A longer one
 * ends with an ellipsis.
 */
export function shownLine(text: string, maxChars = MAX_LINE_CHARS): string {
  const line = shownText(text).replace(/\s+/g, ' ').trim()
  if (line.length <= maxChars) return line
  return `${line.slice(0, cutAt(line, 0, maxChars - 1)).trimEnd()}…`
}
