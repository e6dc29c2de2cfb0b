/**
 * Joins the soft-broken lines of `format=flowed` text (RFC 3676): quoting depths stay separate, the signature mark
 * stays. Implemented here because libmime.decodeFlowed leaves the quote marks of joined lines in the middle of the
 * text.
 */
export function unflow(text: string, deleteSpace: boolean): string {
  const out: string[] = []
  let open = ''
  let openDepth = -1
  for (const raw of text.split('\n')) {
    const depth = quoteDepth(raw)
    const unquoted = raw.slice(depth)
    const line = unquoted.startsWith(' ') ? unquoted.slice(1) : unquoted
    const continues = openDepth === depth
    if (openDepth >= 0 && !continues) out.push(quoted(open, openDepth))
    const soft = line.endsWith(' ') && line !== '-- '
    const piece = soft && deleteSpace ? line.slice(0, -1) : line
    open = continues ? open + piece : piece
    openDepth = soft ? depth : -1
    if (!soft) out.push(quoted(open, depth))
  }
  if (openDepth >= 0) out.push(quoted(open, openDepth))
  return out.join('\n')
}

function quoteDepth(line: string): number {
  let depth = 0
  while (line[depth] === '>') depth++
  return depth
}

function quoted(line: string, depth: number): string {
  const mark = '>'.repeat(depth)
  return depth === 0 || line === '' ? mark + line : `${mark} ${line}`
}
