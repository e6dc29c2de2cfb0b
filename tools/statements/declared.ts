import {
  type CallExpression,
  isCallExpression,
  isIdentifier,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'
import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Type,
  TypeFlags,
  type TypeReference,
} from 'typescript/unstable/sync'
import type { Declared, DeclaredColumn, Kind, Shape } from './types.ts'

const MAKERS = new Set(['sql', 'sqlUnprepared'])

/**
 * Every statement that the sources of these packages declare, with the types of its rows and values, as the compiler
 * resolves them.
 */
export function declaredStatements(folders: readonly string[]): Declared[] {
  const api = new API()
  try {
    const snapshot = api.updateSnapshot({ openProjects: folders.map((folder) => `${folder}/tsconfig.json`) })
    return folders.flatMap((folder) => {
      const project = snapshot.getProject(`${folder}/tsconfig.json`)
      if (!project) throw new Error(`${folder} has no tsconfig.json`)
      return statementsOf(project, `${folder}/src/`)
    })
  } finally {
    api.close()
  }
}

function statementsOf({ program, checker, rootFiles }: Project, sources: string): Declared[] {
  const files = rootFiles.filter((file) => file.startsWith(sources) && !file.includes('/generated/'))
  return files.flatMap((name) => {
    const file = program.getSourceFile(name)
    if (!file?.text.includes('sql')) return []
    return callsIn(file).flatMap((call) => declaredBy(checker, file, call, name))
  })
}

function callsIn(file: SourceFile): CallExpression[] {
  const calls: CallExpression[] = []
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isIdentifier(node.expression) && MAKERS.has(node.expression.text)) calls.push(node)
    node.forEachChild(visit)
  }
  visit(file)
  return calls
}

function declaredBy(checker: Checker, file: SourceFile, call: CallExpression, name: string): Declared[] {
  const type = checker.getTypeAtLocation(call)
  if (!type?.isTypeReference()) return []
  const [row, values] = checker.getTypeArguments(type)
  if (!row || !values) return []
  const { line, character } = file.getLineAndCharacterOfPosition(call.getStart(file))
  return [
    {
      file: name,
      line: line + 1,
      column: character + 1,
      row: rowOf(checker, row),
      values: values.isTypeReference() && checker.isTupleType(values) ? elementsOf(checker, values) : undefined,
    },
  ]
}

function elementsOf(checker: Checker, tuple: TypeReference): Shape[] {
  return checker.getTypeArguments(tuple).map((type) => shapeOf(checker, type))
}

function rowOf(checker: Checker, type: Type): Declared['row'] {
  if (type.isTypeParameter()) return 'parameter'
  if (type.flags & (TypeFlags.Unknown | TypeFlags.Any | TypeFlags.Never)) return 'unread'
  return checker.getPropertiesOfType(type).map((symbol): DeclaredColumn => {
    const optional = (symbol.flags & SymbolFlags.Optional) !== 0
    const property = checker.getTypeOfSymbol(symbol)
    if (!property) throw new Error(`the type of ${symbol.name} is not known`)
    return { name: symbol.name, optional, ...shapeOf(checker, property) }
  })
}

function shapeOf(checker: Checker, type: Type): Shape {
  const members = type.isUnionType() ? type.getTypes() : [type]
  const isNull = (member: Type): boolean => (member.flags & (TypeFlags.Null | TypeFlags.Undefined)) !== 0
  return {
    kinds: members.filter((member) => !isNull(member)).map((member) => kindOf(checker, member)),
    nullable: members.some((member) => isNull(member) || kindOf(checker, member) === 'any'),
    text: checker.typeToString(type),
  }
}

function kindOf(checker: Checker, type: Type): Kind {
  const { flags } = type
  if (flags & TypeFlags.StringLike) return 'string'
  if (flags & TypeFlags.NumberLike) return 'number'
  if (flags & TypeFlags.BigIntLike) return 'bigint'
  if (flags & TypeFlags.BooleanLike) return 'boolean'
  if (flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.TypeParameter)) return 'any'
  if (type.isTypeReference() && checker.isArrayLikeType(type)) {
    const [element] = checker.getTypeArguments(type)
    if (element && checker.isArrayType(type)) return { elements: shapeOf(checker, element) }
  }
  const name = type.getSymbol()?.name
  if (name === 'Date') return 'Date'
  return name === 'Uint8Array' || name === 'Buffer' ? 'bytes' : 'object'
}
