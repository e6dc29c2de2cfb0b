/** A value as TypeScript declares it or as `pg` gives it. */
export type Kind = 'string' | 'number' | 'bigint' | 'boolean' | 'Date' | 'bytes' | 'object' | 'any' | ArrayOf

export interface ArrayOf {
  readonly elements: Shape
}

/** A declared type, reduced to what can be compared with a type of PostgreSQL. */
export interface Shape {
  readonly kinds: readonly Kind[]
  readonly nullable: boolean
  /** The type as it is written. */
  readonly text: string
}

export interface DeclaredColumn extends Shape {
  readonly name: string
  readonly optional: boolean
}

/** One `sql<Row, Values>(...)` of the sources. */
export interface Declared {
  readonly file: string
  /** Of the call, both from 1. */
  readonly line: number
  readonly column: number
  /** `unread`: the type lets no code read the rows (`never`, `unknown`). `parameter`: that of a generic function. */
  readonly row: readonly DeclaredColumn[] | 'unread' | 'parameter'
  /** Undefined where the number of values is open. */
  readonly values: readonly Shape[] | undefined
}

/** One statement as a module made it when it was imported. */
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
  /** For a plain column of a table: its name there, and whether it may be null; otherwise undefined. */
  readonly source: { readonly name: string; readonly nullable: boolean } | undefined
}

/** A statement as PostgreSQL understands it. */
export interface Described {
  /** OIDs of the types of `$1`, `$2`, ... */
  readonly parameters: readonly number[]
  readonly columns: readonly DescribedColumn[]
}
