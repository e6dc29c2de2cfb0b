import type { Document } from './document.ts'

/** Members that structured content has, and the text form does without. */
const UNSAID: ReadonlySet<string> = new Set([
  'count',
  'createdAt',
  'cursor',
  'limit',
  'nextPageToken',
  'organizationId',
  'podId',
  'size',
  'updatedAt',
])

/** A document as lines of `name: value`, members of members indented, entries of lists with a dash. */
export function rendered(document: Document): string {
  return linesOf(document).join('\n')
}

function linesOf(document: Document): string[] {
  return Object.entries(document).flatMap(([name, value]) => (UNSAID.has(name) ? [] : member(name, value)))
}

function member(name: string, value: unknown): string[] {
  if (Array.isArray(value)) {
    if (value.every(isShort)) return [`${name}: ${value.join(', ')}`]
    return [`${name}:`, ...value.flatMap((each) => entry(isDocument(each) ? linesOf(each) : String(each).split('\n')))]
  }
  if (isDocument(value)) return [`${name}:`, ...indented(linesOf(value))]
  const text = String(value)
  return text.includes('\n') ? [`${name}:`, ...indented(text.split('\n'))] : [`${name}: ${text}`]
}

function entry([first = '', ...others]: readonly string[]): string[] {
  return [`- ${first}`, ...indented(others)]
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`))
}

/** Whether an entry of a list can stand beside others on one line. */
function isShort(value: unknown): boolean {
  return !isDocument(value) && !String(value).includes('\n')
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
