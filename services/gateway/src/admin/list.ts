import type { Console } from './console.ts'
import { json } from './documents.ts'
import { Table } from './table.ts'

/** How a list is printed: a document a line for scripts, or a table for a person. */
export type ListForm<Row> =
  | { readonly document: (row: Row) => Record<string, unknown> }
  | {
      readonly headings: readonly string[]
      readonly cells: (row: Row) => string[]
      /** What a person reads where there is nothing; a script gets no line. */
      readonly none: string
    }

/** Prints a list a page at a time, as the pages come. */
export async function printList<Row>(
  console: Console,
  pages: AsyncIterable<readonly Row[]>,
  form: ListForm<Row>,
): Promise<void> {
  if ('document' in form) {
    for await (const rows of pages) console.print(rows.map((row) => json(form.document(row))).join('\n'))
    return
  }
  const table = new Table(form.headings)
  let some = false
  for await (const rows of pages) {
    some = true
    console.print(table.page(rows.map(form.cells)))
  }
  if (!some) console.print(form.none)
}
