import type { Declared, DeclaredColumn, Described, DescribedColumn, Kind, Shape } from './types.ts'

const INT8 = 20
const NUMERIC = 1700
const JSON_TYPES = new Set([114, 3802])

/** The JavaScript types that `pg` returns for types of PostgreSQL. For any other type it returns a string. */
const RESULTS = new Map<number, Kind>([
  [16, 'boolean'],
  [17, 'bytes'],
  ...[21, 23, 26, 700, 701].map((type) => [type, 'number'] as const),
  ...[1082, 1114, 1184].map((type) => [type, 'Date'] as const),
])

/** Array types that `pg` parses, by the type of their elements. Others are returned as text: `{a,b}`. */
const ARRAYS = new Map([
  [1000, 16],
  [1001, 17],
  [1005, 21],
  [1007, 23],
  [1016, INT8],
  [1021, 700],
  [1022, 701],
  [1009, 25],
  [1015, 1043],
  [2951, 2950],
  [1115, 1114],
  [1185, 1184],
  [1182, 1082],
  [199, 114],
  [3807, 3802],
])

/** @returns the problems of a declaration, one sentence each; empty when it fits. */
export function mismatches(declared: Declared, described: Described, text: string): string[] {
  return [...wrongColumns(declared.row, described.columns, text), ...wrongValues(declared.values, described.parameters)]
}

function wrongColumns(row: Declared['row'], columns: readonly DescribedColumn[], text: string): string[] {
  if (row === 'unread' || row === 'parameter') return []
  const actual = new Map(columns.map((column) => [column.name, column]))
  const missing = row.filter(({ name, optional }) => !optional && !actual.has(name))
  const known = new Map(row.map((column) => [column.name, column]))
  return [
    ...missing.map(({ name }) => `column ${name} is declared and not selected`),
    ...columns.flatMap((column) => {
      const declared = known.get(column.name)
      return declared ? wrongColumn(declared, column, text) : [`column ${column.name} is selected and not declared`]
    }),
  ]
}

function wrongColumn(declared: DeclaredColumn, { name, type, source }: DescribedColumn, text: string): string[] {
  const wrong: string[] = []
  if (!declared.kinds.every((kind) => isResult(kind, type)))
    wrong.push(`column ${name} is declared as ${declared.text} and is ${nameOf(type)}`)
  if (source?.nullable && !declared.nullable && !excludesNull(text, source.name))
    wrong.push(`column ${name} is declared as ${declared.text} and may be null`)
  return wrong
}

/** Whether a statement returns only rows with a value in the column, because it requires, compares or sets one. */
function excludesNull(text: string, column: string): boolean {
  return new RegExp(`\\b${column}"? (is not null|= (?!null|excluded|coalesce))`, 'i').test(text)
}

function isResult(kind: Kind, type: number): boolean {
  if (kind === 'any') return true
  if (JSON_TYPES.has(type)) return kind !== 'Date' && kind !== 'bytes' && kind !== 'bigint'
  const element = ARRAYS.get(type)
  if (element !== undefined)
    return typeof kind === 'object' && kind.elements.kinds.every((each) => isResult(each, element))
  return kind === (RESULTS.get(type) ?? 'string')
}

function wrongValues(values: readonly Shape[] | undefined, parameters: readonly number[]): string[] {
  if (values === undefined) return []
  if (values.length !== parameters.length)
    return [`values declared: ${values.length}, parameters of the statement: ${parameters.length}`]
  return values.flatMap(({ kinds, text }, index) => {
    const type = parameters[index] ?? 0
    return kinds.every((kind) => isValue(kind, type))
      ? []
      : [`$${index + 1} is declared as ${text} and is ${nameOf(type)}`]
  })
}

/** Whether `pg` serializes such a value in a form that PostgreSQL accepts for this type. */
function isValue(kind: Kind, type: number): boolean {
  if (kind === 'any') return true
  if (JSON_TYPES.has(type)) return kind === 'string' || kind === 'object'
  const element = ARRAYS.get(type)
  if (element !== undefined)
    return typeof kind === 'object' && kind.elements.kinds.every((each) => isValue(each, element))
  if (type === INT8 || type === NUMERIC) return kind === 'number' || kind === 'bigint' || kind === 'string'
  const result = RESULTS.get(type) ?? 'string'
  return kind === result || (result === 'Date' && kind === 'string')
}

const NAMES = new Map([
  [16, 'boolean'],
  [17, 'bytea'],
  [INT8, 'bigint, which pg gives as a string'],
  [21, 'smallint'],
  [23, 'integer'],
  [25, 'text'],
  [114, 'json'],
  [700, 'real'],
  [701, 'double precision'],
  [1009, 'text[]'],
  [1082, 'date'],
  [1184, 'timestamptz'],
  [NUMERIC, 'numeric, which pg gives as a string'],
  [2278, 'void'],
  [2950, 'uuid'],
  [2951, 'uuid[]'],
  [3802, 'jsonb'],
])

function nameOf(type: number): string {
  return NAMES.get(type) ?? `type ${type} of PostgreSQL`
}
