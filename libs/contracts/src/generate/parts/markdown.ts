/** First line of each generated page. */
export const NOTICE = '<!-- Generated from libs/contracts by `npm run generate:docs`; do not edit. -->'

/** A Markdown table; a pipe inside a cell is escaped. */
export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n')
}

/** Fragment identifier of a heading, as the common renderers create it. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')
}

/** Text in which nothing is taken for a tag. */
export function plain(text: string): string {
  return text.replaceAll('<', '\\<')
}

/** Pieces of a page, with an empty line between them and one at the end. Absent pieces are left out. */
export function page(pieces: readonly (string | undefined)[]): string {
  return `${pieces.filter((piece) => piece !== undefined && piece !== '').join('\n\n')}\n`
}
