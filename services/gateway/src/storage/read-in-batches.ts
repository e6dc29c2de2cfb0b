/** Rows read at once: memory stays bounded however many there are. */
const PAGE = 500

/**
 * Reads rows a page at a time, each page from where the last one ended.
 * @param read returns the next rows after `after`, at most `take`.
 */
export async function* pages<Row>(
  read: (after: Row | undefined, take: number) => Promise<Row[]>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  let after: Row | undefined
  for (let left = limit; left > 0; ) {
    const take = Math.min(PAGE, left)
    const page = await read(after, take)
    if (page.length > 0) yield page
    if (page.length < take) return
    after = page.at(-1)
    left -= page.length
  }
}
