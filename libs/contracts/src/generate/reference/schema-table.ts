import { type Json, member, strings } from '../parts/components.ts'
import { page, table } from '../parts/markdown.ts'
import { alternativesOf, detailText, typeText } from './schema-text.ts'

/** Objects inside objects are shown this deep; what is deeper is `object`. */
const DEPTH = 4

/** The members of an object, or of each of its alternatives. Empty for anything else. */
export function schemaTable(schema: Json): string {
  const rows = rowsOf(schema, '', DEPTH)
  if (rows.length > 0) return table(['Member', 'Type', 'Required', 'Meaning'], rows)
  const alternatives = alternativesOf(schema).filter((each) => Object.keys(member(each, 'properties')).length > 0)
  return alternatives.map((each, index) => page([`Form ${index + 1}:`, schemaTable(each)])).join('\n')
}

function rowsOf(schema: Json, prefix: string, depth: number): string[][] {
  const required = strings(schema, 'required')
  const properties = member(schema, 'properties')
  return Object.keys(properties).flatMap((name) => {
    const described = member(properties, name)
    const row = [
      `\`${prefix}${name}\``,
      typeText(described),
      required.includes(name) ? 'yes' : '',
      detailText(described),
    ]
    return [row, ...(depth > 1 ? innerRows(described, `${prefix}${name}`, depth - 1) : [])]
  })
}

function innerRows(schema: Json, name: string, depth: number): string[][] {
  const items = member(schema, 'items')
  if (Object.keys(member(items, 'properties')).length > 0) return rowsOf(items, `${name}[].`, depth)
  const [alternative] = alternativesOf(schema).filter((each) => Object.keys(member(each, 'properties')).length > 0)
  return rowsOf(alternative ?? schema, `${name}.`, depth)
}
