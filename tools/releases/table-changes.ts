import type { AlterTableCmd, ColumnDef, Constraint, Node } from 'libpg-query'
import type { Finding } from './findings.ts'

/** Changes of a table that neither concern the statements of the release before nor hold a lock while rows are read. */
const HARMLESS: ReadonlySet<string> = new Set([
  'AT_ValidateConstraint',
  'AT_SetStatistics',
  'AT_SetStorage',
  'AT_SetRelOptions',
  'AT_ResetRelOptions',
  'AT_SetOptions',
  'AT_ResetOptions',
])

/** What the change of an existing table does to the release before, or to its statements while it runs. */
export function changeOfTable(table: string, command: AlterTableCmd): Finding[] {
  const { subtype = '', name = '', def } = command
  const column = `${table}.${name}`
  switch (subtype) {
    case 'AT_AddColumn':
      return def && 'ColumnDef' in def ? newColumn(table, def.ColumnDef) : []
    case 'AT_DropColumn':
      return [{ needs: 'unused', what: `drops the column ${column}` }]
    case 'AT_AlterColumnType':
      return [{ needs: 'never', what: `changes the type of ${column} in place: add a column, and write both` }]
    case 'AT_SetNotNull':
      return [
        { needs: 'unused', what: `forbids null in ${column}` },
        { needs: 'small', what: `reads all of ${table} under a lock` },
      ]
    case 'AT_DropNotNull':
      return [{ needs: 'unused', what: `allows null in ${column}, which the release before reads as a value` }]
    case 'AT_ColumnDefault':
      return def ? [] : [{ needs: 'unused', what: `takes the default from ${column}` }]
    case 'AT_AddConstraint':
      return def && 'Constraint' in def ? newConstraint(table, def.Constraint) : []
    case 'AT_DropConstraint':
      return [{ needs: 'unused', what: `drops the constraint ${name} of ${table}, which "on conflict" may name` }]
    default:
      return HARMLESS.has(subtype) ? [] : [{ needs: 'never', what: `does ${subtype} to ${table}: add a rule for it` }]
  }
}

/** Types that are a sequence and a default in disguise. */
const SERIAL = /^(small|big)?serial\d?$/

function newColumn(table: string, { colname = '', typeName, constraints = [] }: ColumnDef): Finding[] {
  const column = `${table}.${colname}`
  const own = constraints.flatMap((node) => ('Constraint' in node ? [node.Constraint] : []))
  const fallback = own.find(({ contype }) => contype === 'CONSTR_DEFAULT')
  const found: Finding[] = []
  const type = lastName(typeName?.names)
  const rewritten = own.some(({ contype }) => contype === 'CONSTR_GENERATED' || contype === 'CONSTR_IDENTITY')
  if (own.some(({ contype }) => contype === 'CONSTR_NOTNULL') && !fallback && !rewritten)
    found.push({ needs: 'never', what: `adds ${column}, not null and without a default` })
  if (rewritten || SERIAL.test(type) || (fallback?.raw_expr && isVolatile(fallback.raw_expr)))
    found.push({ needs: 'small', what: `rewrites ${table}: the value of ${column} differs from row to row` })
  return [...found, ...own.flatMap((constraint) => newConstraint(table, constraint))]
}

function newConstraint(table: string, { contype, skip_validation, indexname }: Constraint): Finding[] {
  switch (contype) {
    case 'CONSTR_CHECK':
    case 'CONSTR_FOREIGN':
      return [
        { needs: 'unused', what: `restricts what may be in ${table}` },
        ...(skip_validation
          ? []
          : [{ needs: 'small', what: `reads all of ${table} under a lock: "not valid"` } as const]),
      ]
    case 'CONSTR_PRIMARY':
    case 'CONSTR_UNIQUE':
    case 'CONSTR_EXCLUSION':
      return [
        { needs: 'unused', what: `restricts what may be in ${table}` },
        ...(indexname ? [] : [{ needs: 'small', what: `builds an index of ${table} under a lock` } as const]),
      ]
    default:
      return []
  }
}

/** Functions whose value is the same for every row of a statement. */
const STABLE = new Set(['now', 'transaction_timestamp', 'statement_timestamp', 'current_setting'])

/** Whether a default may differ from row to row, so that PostgreSQL writes it to every row. */
function isVolatile(expression: Node): boolean {
  const calls = JSON.stringify(expression).match(/"funcname":\[.*?\]/g) ?? []
  return calls.some((call) => !STABLE.has(/"sval":"([^"]*)"}}\]$/.exec(call)?.[1] ?? ''))
}

/** The last part of a name in its parts, such as `pg_catalog.int4`. */
export function lastName(parts: readonly Node[] = []): string {
  const last = parts.at(-1)
  return last && 'String' in last ? (last.String.sval ?? '') : ''
}
