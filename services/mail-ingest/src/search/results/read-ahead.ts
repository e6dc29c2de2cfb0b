/** Rows by their ids, which may be read before it is certain that these are needed: nearly always they are. */
export class ReadAhead<Row> {
  readonly #read: (ids: readonly string[]) => Promise<Row[]>
  #begun: { readonly ids: readonly string[]; readonly rows: Promise<Row[]> } | undefined

  constructor(read: (ids: readonly string[]) => Promise<Row[]>) {
    this.#read = read
  }

  /** Begins to read rows that will probably be asked for. */
  begin(ids: readonly string[]): void {
    this.rows(ids).catch(() => {})
  }

  /** The rows with these ids. Without any, nothing is read. */
  async rows(ids: readonly string[]): Promise<Row[]> {
    return ids.length === 0 ? [] : this.#rows(ids)
  }

  #rows(ids: readonly string[]): Promise<Row[]> {
    if (this.#begun !== undefined && areSame(this.#begun.ids, ids)) return this.#begun.rows
    const rows = this.#read(ids)
    this.#begun = { ids, rows }
    return rows
  }
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((id, at) => id === others[at])
}
