/** Columns after which a header line is folded; RFC 5322 2.1.1 allows 998. */
const FOLD_AT = 150

/** Received-SPF and Authentication-Results (RFC 8601) of a mail, each with its line end. */
export function resultLines(hostname: string, receivedSpf: string, rows: readonly (string | undefined)[]): string {
  const results = rows.flatMap((row) => (row === undefined || row === '' ? [] : [folded(row)]))
  const all = results.length > 0 ? results.join(';\r\n ') : 'none'
  return `${receivedSpf}\r\nAuthentication-Results: ${hostname};\r\n ${all}\r\n`
}

/** Breaks a long row at its spaces, where white space may be folded. */
function folded(row: string): string {
  let line = ''
  const lines: string[] = []
  for (const word of row.split(' ')) {
    if (line !== '' && line.length + word.length >= FOLD_AT) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\r\n  ')
}
