/** Rows as a person reads them: columns as wide as their widest value, two blanks apart. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return [headings, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Day and minute, UTC. */
export function moment(at: Date | null): string {
  return at === null ? '-' : at.toISOString().slice(0, 16).replace('T', ' ')
}
