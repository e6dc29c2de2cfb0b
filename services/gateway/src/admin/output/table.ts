/**
 * Rows formatted for people, a page at a time: columns at least as wide as their widest value so far, separated by two
 * blanks.
 */
export class Table {
  readonly #headings: readonly string[]
  #widths: readonly number[]
  #begun = false

  constructor(headings: readonly string[]) {
    this.#headings = headings
    this.#widths = headings.map((heading) => heading.length)
  }

  /** The lines of a page; the first page begins with the headings. */
  page(rows: readonly (readonly string[])[]): string {
    this.#widths = this.#widths.map((width, column) => Math.max(width, ...rows.map((row) => row[column]?.length ?? 0)))
    const lines = this.#begun ? rows : [this.#headings, ...rows]
    this.#begun = true
    return lines.map((row) => this.#line(row)).join('\n')
  }

  #line(row: readonly string[]): string {
    return row
      .map((cell, column) => cell.padEnd(this.#widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  }
}

/** Names and values of one resource, a line each. */
export function facts(pairs: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** Day and minute, UTC. */
export function moment(at: Date | null): string {
  return at === null ? '-' : at.toISOString().slice(0, 16).replace('T', ' ')
}

/** The same for a time as services answer it. */
export function answeredMoment(time: string | undefined): string {
  return moment(time === undefined ? null : new Date(time))
}
