import type { Console } from './console.ts'
import { json } from './documents.ts'
import { Table } from './table.ts'

/** How a list is printed: a document a line for scripts, or a table for people. */
export type ListForm<Row> =
  | { readonly document: (row: Row) => Record<string, unknown> }
  | {
      readonly headings: readonly string[]
      readonly cells: (row: Row) => string[]
      /** Text shown when the list is empty; scripts get no line. */
      readonly none: string
    }

/** Prints a list page by page, as the pages arrive. */
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

/** Rows that arrive at once, as the only page of a list; none if there are no rows. */
export async function* onePage<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  if (rows.length > 0) yield rows
}

/** The document of a row that another service answered with: it is printed as it came. */
export function asAnswered(row: object): Record<string, unknown> {
  return { ...row }
}
