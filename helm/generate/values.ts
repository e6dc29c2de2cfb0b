import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { z } from 'zod'

/** One value of values.yaml with its comment. */
export interface DocumentedValue {
  /** Keys joined by dots: `smtp.service.port`. */
  readonly path: string
  /** What is below it, when it is a group of values. */
  readonly children: readonly DocumentedValue[]
  readonly fallback: unknown
  readonly meaning: string
}

/** Maps whose keys are not those of the chart: blocks of services, and objects of Kubernetes. */
export type IsOneValue = (path: string) => boolean

const map = z.record(z.string(), z.unknown())

/**
 * The values of a chart with the comments above them.
 * @param isOneValue which maps are one value, and not a group of values.
 * @throws Error that names the values without a comment: each says what it is for.
 */
export function documentedValues(text: string, isOneValue: IsOneValue): readonly DocumentedValue[] {
  const document = parseDocument(text)
  if (!isMap(document.contents)) throw new Error('values.yaml is no map')
  const values = valuesOf(document.contents, map.parse(document.toJS()), { prefix: '', isOneValue })
  const silent = flat(values).filter(({ meaning, children }) => meaning === '' && children.length === 0)
  if (silent.length > 0) throw new Error(`no comment in values.yaml: ${silent.map(({ path }) => path).join(', ')}`)
  return values
}

/** All values, a group before what is in it. */
export function flat(values: readonly DocumentedValue[]): readonly DocumentedValue[] {
  return values.flatMap((value) => [value, ...flat(value.children)])
}

interface Position {
  readonly prefix: string
  readonly isOneValue: IsOneValue
}

function valuesOf(
  node: YAMLMap,
  values: Readonly<Record<string, unknown>>,
  { prefix, isOneValue }: Position,
): DocumentedValue[] {
  return node.items.map((pair, index) => {
    const { text, comment } = keyOf(pair)
    const path = prefix + text
    const { value } = pair
    const isGroup = isMap(value) && value.items.length > 0 && !isOneValue(path)
    return {
      path,
      children: isGroup ? valuesOf(value, map.parse(values[text]), { prefix: `${path}.`, isOneValue }) : [],
      fallback: values[text],
      // The parser gives the comment above the first key of a map to the map.
      meaning: lastParagraph(comment ?? (index === 0 ? node.commentBefore : undefined)),
    }
  })
}

function keyOf({ key }: Pair) {
  if (!isScalar(key)) throw new Error('a key of values.yaml is no word')
  return { text: String(key.value), comment: key.commentBefore }
}

/** On one line; paragraphs above it are about the file. */
function lastParagraph(comment: string | null | undefined): string {
  const paragraphs = (comment ?? '').split(/\n\s*\n/)
  const lines = (paragraphs.at(-1) ?? '').split('\n')
  return lines.map((line) => line.trim()).join(' ')
}
