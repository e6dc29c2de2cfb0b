import { isOutsideTransaction } from '@restante/service/database'
import { type AlterTableStmt, type DropStmt, type IndexStmt, type Node, parse } from 'libpg-query'
import type { Finding } from './findings.ts'
import { changeOfTable, lastName } from './table-changes.ts'

/**
 * What a migration does that statements of the release before may notice, while it runs or after it. PostgreSQL's own
 * parser reads it.
 * @param created tables and types that no earlier release has; those that the migration creates are added.
 */
export async function changesOf(text: string, created: Set<string>): Promise<Finding[]> {
  const { stmts = [] } = await parse(text)
  const statements = stmts.flatMap(({ stmt }) => (stmt ? [stmt] : []))
  const isOutside = isOutsideTransaction({ text })
  if (isOutside) for (const name of builtIndexes(statements)) created.add(name)
  const findings = statements.flatMap((statement) => [
    ...change(statement, created),
    ...placement(statement, isOutside),
  ])
  return isOutside ? [...findings, ...notRepeatable(statements)] : findings
}

/** Statements that no statement of a service notices. */
const HARMLESS = new Set([
  'SelectStmt',
  'InsertStmt',
  'CommentStmt',
  'CreateExtensionStmt',
  'CreateTrigStmt',
  'CreateSeqStmt',
])

function change(statement: Node, created: Set<string>): Finding[] {
  if ('CreateStmt' in statement) return create(statement.CreateStmt.relation?.relname, created)
  if ('CreateEnumStmt' in statement) return create(lastName(statement.CreateEnumStmt.typeName), created)
  if ('AlterTableStmt' in statement) return alterTable(statement.AlterTableStmt, created)
  if ('IndexStmt' in statement) return createIndex(statement.IndexStmt, created)
  if ('DropStmt' in statement) return drop(statement.DropStmt, created)
  if ('RenameStmt' in statement) {
    const { relation, newname = '' } = statement.RenameStmt
    return isCreated(relation?.relname, created) ? [] : [{ needs: 'never', what: `renames something to ${newname}` }]
  }
  if ('AlterEnumStmt' in statement) {
    const { oldVal } = statement.AlterEnumStmt
    return oldVal ? [{ needs: 'never', what: `renames the value ${oldVal} of a type` }] : []
  }
  if ('CreateFunctionStmt' in statement) {
    const { funcname, replace } = statement.CreateFunctionStmt
    return replace ? [{ needs: 'unused', what: `replaces the function ${lastName(funcname)}` }] : []
  }
  if ('UpdateStmt' in statement) {
    const { relname = '' } = statement.UpdateStmt.relation ?? {}
    const what = `rewrites rows of ${relname} in one transaction: let the service do it in batches`
    return isCreated(relname, created) ? [] : [{ needs: 'small', what }]
  }
  if ('DeleteStmt' in statement) {
    const { relname = '' } = statement.DeleteStmt.relation ?? {}
    return isCreated(relname, created) ? [] : [{ needs: 'unused', what: `deletes rows of ${relname}` }]
  }
  const [kind = ''] = Object.keys(statement)
  return HARMLESS.has(kind) ? [] : [{ needs: 'never', what: `has a ${kind}, which no rule judges: add one` }]
}

function create(name: string | undefined, created: Set<string>): Finding[] {
  if (name !== undefined) created.add(name)
  return []
}

function isCreated(name: string | undefined, created: ReadonlySet<string>): boolean {
  return name !== undefined && created.has(name)
}

function alterTable({ relation, cmds = [] }: AlterTableStmt, created: ReadonlySet<string>): Finding[] {
  const table = relation?.relname ?? ''
  if (created.has(table)) return []
  return cmds.flatMap((command) => ('AlterTableCmd' in command ? changeOfTable(table, command.AlterTableCmd) : []))
}

function createIndex(
  { relation, idxname = '', unique, concurrent }: IndexStmt,
  created: ReadonlySet<string>,
): Finding[] {
  const table = relation?.relname ?? ''
  if (created.has(table)) return []
  const found: Finding[] = []
  if (unique) found.push({ needs: 'unused', what: `restricts what may be in ${table} by the unique index ${idxname}` })
  if (!concurrent)
    found.push({ needs: 'small', what: `builds the index ${idxname} while nothing can be written to ${table}` })
  return found
}

const KINDS: Readonly<Record<string, string>> = { OBJECT_TABLE: 'table', OBJECT_INDEX: 'index', OBJECT_TYPE: 'type' }

/** @param created also indexes that the migration builds again: dropping one first makes it repeatable. */
function drop({ objects = [], removeType = 'OBJECT_TABLE' }: DropStmt, created: ReadonlySet<string>): Finding[] {
  return objects
    .map(nameOf)
    .filter((name) => !created.has(name))
    .map((name): Finding => ({ needs: 'unused', what: `drops the ${KINDS[removeType] ?? removeType} ${name}` }))
}

function nameOf(object: Node): string {
  if ('List' in object) return lastName(object.List.items)
  if ('TypeName' in object) return lastName(object.TypeName.names)
  if ('ObjectWithArgs' in object) return lastName(object.ObjectWithArgs.objname)
  return lastName([object])
}

/** Whether a statement stands where PostgreSQL runs it. */
function placement(statement: Node, isOutside: boolean): Finding[] {
  const isConcurrent =
    ('IndexStmt' in statement && statement.IndexStmt.concurrent === true) ||
    ('DropStmt' in statement && statement.DropStmt.concurrent === true)
  if (isConcurrent === isOutside) return []
  const what = isConcurrent
    ? 'handles an index concurrently: "-- outside a transaction" is its first line'
    : 'has another statement than for concurrent indexes outside a transaction: a crash would leave half of it'
  return [{ needs: 'never', what }]
}

function builtIndexes(statements: readonly Node[]): string[] {
  return statements.flatMap((each) => ('IndexStmt' in each ? [each.IndexStmt.idxname ?? ''] : []))
}

/** Indexes that are not dropped first: a crash leaves an invalid one, and the next run would fail on it. */
function notRepeatable(statements: readonly Node[]): Finding[] {
  const dropped = new Set<string>()
  return statements.flatMap((statement): Finding[] => {
    if ('DropStmt' in statement)
      for (const object of statement.DropStmt.objects ?? [])
        if ('List' in object) dropped.add(lastName(object.List.items))
    if (!('IndexStmt' in statement)) return []
    const { idxname = '' } = statement.IndexStmt
    if (dropped.has(idxname)) return []
    return [{ needs: 'never', what: `builds ${idxname} without "drop index concurrently if exists ${idxname}" before` }]
  })
}
