import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'

export interface Matcher {
  readonly label: string
  readonly op: string
  readonly value: string
}

/** A metric that a query names, with the labels that it demands. */
export interface Selector {
  readonly metric: string
  readonly matchers: readonly Matcher[]
}

export interface ParsedQuery {
  readonly selectors: readonly Selector[]
  /** Labels by which the query groups or joins. */
  readonly labels: readonly string[]
}

/** What Grafana fills in before it sends a query. */
const VARIABLES: readonly (readonly [RegExp, string])[] = [
  [/\$__rate_interval/g, '5m'],
  [/\$(namespace|service|instance|group)\b/g, '.*'],
]

/** A query as Prometheus gets it. */
export function filledIn(query: string): string {
  return VARIABLES.reduce((text, [variable, value]) => text.replace(variable, value), query)
}

/** @throws Error for what Prometheus' own grammar does not accept. */
export function parseQuery(query: string): ParsedQuery {
  const text = filledIn(query)
  const selectors: Selector[] = []
  const labels: string[] = []
  parser.parse(text).iterate({
    enter: ({ node }) => {
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${text}`)
      if (node.name === 'VectorSelector') selectors.push(selectorOf(node, text))
      if (node.name === 'GroupingLabels') {
        labels.push(...node.getChildren('LabelName').map((label) => slice(label, text)))
      }
    },
  })
  return { selectors, labels }
}

function selectorOf(node: SyntaxNode, text: string): Selector {
  const name = node.getChild('Identifier')
  if (!name) throw new Error(`a selector without a metric: ${text}`)
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
  return { metric: slice(name, text), matchers: matchers.map((matcher) => matcherOf(matcher, text)) }
}

function matcherOf(node: SyntaxNode, text: string): Matcher {
  const [label, op, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) => {
    const child = node.getChild(name)
    return child ? slice(child, text) : ''
  })
  return { label: label ?? '', op: op ?? '', value: (value ?? '').slice(1, -1) }
}

function slice({ from, to }: SyntaxNode, text: string): string {
  return text.slice(from, to)
}
