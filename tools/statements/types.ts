/** The type of a value, as TypeScript declares it or as `pg` returns it. */
export type Kind = 'string' | 'number' | 'bigint' | 'boolean' | 'Date' | 'bytes' | 'object' | 'any' | ArrayOf

export interface ArrayOf {
  readonly elements: Shape
}

/** A declared type, reduced to what can be compared with a type of PostgreSQL. */
export interface Shape {
  readonly kinds: readonly Kind[]
  readonly nullable: boolean
  /** The type as written in the source. */
  readonly text: string
}

export interface DeclaredColumn extends Shape {
  readonly name: string
  readonly optional: boolean
}

/** One `sql<Row, Values>(...)` of the sources. */
export interface Declared {
  readonly file: string
  /** Position of the call; both start at 1. */
  readonly line: number
  readonly column: number
  /** `unread`: the type lets no code read the rows (`never`, `unknown`). `parameter`: that of a generic function. */
  readonly row: readonly DeclaredColumn[] | 'unread' | 'parameter'
  /** Undefined if the number of values is variable. */
  readonly values: readonly Shape[] | undefined
}

/** One statement as a module created it at its import. */
export interface Made {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly text: string
}

export interface DescribedColumn {
  readonly name: string
  /** OID of its type. */
  readonly type: number
  /** For a plain column of a table: its name in the table, and whether it may be null. Otherwise undefined. */
  readonly source: { readonly name: string; readonly nullable: boolean } | undefined
}

/** A statement as PostgreSQL describes it. */
export interface Described {
  /** OIDs of the types of `$1`, `$2`, ... */
  readonly parameters: readonly number[]
  readonly columns: readonly DescribedColumn[]
}
