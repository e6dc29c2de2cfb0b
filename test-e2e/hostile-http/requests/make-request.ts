import type { Route, Schema } from './api-document.ts'
import type { Draw } from './draw.ts'
import { nastyAuthorization, nastyHeaders, nastyIdempotencyKey } from './nasty-headers.ts'
import { INHERITED, nastyBody, nastyObject, nastySegment, nastyText, nastyValue } from './nasty-values.ts'
import { alternativesOf, rightObject, rightValue, type Source } from './right-values.ts'

/** One request as it is sent. */
export interface HttpRequest {
  readonly route: Route
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

type Part = 'method' | 'segment' | 'query' | 'headers' | 'authorization' | 'member' | 'body'

/** Methods that do not delete or change what other requests need. */
const OTHER_METHODS = ['PUT', 'OPTIONS', 'POST', 'GET', 'TRACE', 'PROPFIND']

/** A request to the route: valid in a third of all cases, otherwise wrong or odd in up to three parts. */
export function makeRequest(route: Route, key: string, source: Source): HttpRequest {
  const { draw } = source
  const odd = oddParts(route, draw)
  const body = bodyOf(route, odd, source)
  return {
    route,
    method: methodOf(route, odd, draw),
    path: `${pathOf(route, odd, source)}${queryOf(route, odd, source)}`,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      authorization: odd.has('authorization') ? nastyAuthorization(draw) : `Bearer ${key}`,
      ...idempotencyKeyOf(route, odd, source),
      ...(odd.has('headers') ? nastyHeaders(draw) : {}),
    },
    body,
  }
}

function oddParts(route: Route, draw: Draw): ReadonlySet<Part> {
  if (draw.chance(0.35)) return new Set()
  const { template, query, body } = route
  const parts: readonly Part[] = [
    'headers',
    'query',
    ...(Object.keys(query).length > 0 ? (['query', 'query'] as const) : []),
    ...(template.includes('{') ? (['segment'] as const) : []),
    ...(body === undefined ? [] : (['member', 'member', 'member', 'member', 'body'] as const)),
    ...(draw.chance(0.2) ? (['method', 'authorization'] as const) : []),
  ]
  return new Set([draw.one(parts), ...draw.several(2, () => draw.one(parts))])
}

function methodOf({ method }: Route, odd: ReadonlySet<Part>, draw: Draw): string {
  if (odd.has('method')) return draw.one(OTHER_METHODS)
  return method === 'GET' && draw.chance(0.05) ? 'HEAD' : method
}

/** Deletes, and what else uses something up, name what may be deleted; all other requests name what is kept. */
function pathOf({ template, method, operationId }: Route, odd: ReadonlySet<Part>, { draw, known }: Source): string {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const oddName = odd.has('segment') ? draw.one(names) : undefined
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === oddName) return nastySegment(draw)
    const kinds = [`${operationId}.${name}`, `${operationId.split('.')[0]}.${name}`]
    const kind = kinds.find((own) => known.has(own)) ?? name
    const isUsedUp = (method === 'DELETE' || operationId === 'drafts.send') && name === names.at(-1)
    const id = isUsedUp ? known.take(kind) : known.any(kind, draw)
    return encodeURIComponent(id ?? 'gone')
  })
  return draw.chance(0.03) ? `${path}/` : path
}

function queryOf({ query }: Route, odd: ReadonlySet<Part>, source: Source): string {
  const { draw } = source
  const pairs = Object.entries(query)
    .filter(([name]) => name !== 'page_token' && draw.chance(0.25))
    .flatMap(([name, schema]) => spelled(name, schema, source))
  if (odd.has('query')) pairs.push(...nastyPairs([...Object.keys(query), 'unknown'], draw))
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Each spelling of a list that clients use (identity 1.3). */
function spelled(name: string, schema: Schema, source: Source): string[] {
  const value = rightValue(name, schema, source)
  if (!Array.isArray(value)) return [`${name}=${encodeURIComponent(String(value))}`]
  const elements = value.map((element) => encodeURIComponent(String(element)))
  switch (source.draw.below(4)) {
    case 0:
      return [`${name}=${encodeURIComponent(JSON.stringify(value))}`]
    case 1:
      return [`${name}=${elements.join(',')}`]
    case 2:
      return elements.map((element) => `${name}=${element}`)
    default:
      return elements.map((element, index) => `${name}[${index}]=${element}`)
  }
}

function nastyPairs(names: readonly string[], draw: Draw): string[] {
  const name = draw.chance(0.9) ? draw.one(names) : draw.one(INHERITED)
  const value = encodeURIComponent(nastyText(draw).toWellFormed())
  return draw.one([
    [`${name}=${value}`],
    [`${name}=${value}`, `${name}=${value}`],
    [`${name}[]=${value}`, `${name}[7]=x`],
    [`${name}[a][b]=${value}`],
    [`${name}=${encodeURIComponent(JSON.stringify(nastyValue(draw)))}`],
    [`${name}=%`, `${name}=%zz%c3%28`],
    [`${name}`],
    [`=${value}`, '', '&', '?'],
    Array.from({ length: 400 }, (_, index) => `${name}=${index}`),
  ])
}

function idempotencyKeyOf({ takesIdempotencyKey }: Route, odd: ReadonlySet<Part>, { draw, word }: Source) {
  if (!takesIdempotencyKey || draw.chance(0.6)) return {}
  if (odd.has('headers')) return { 'idempotency-key': nastyIdempotencyKey(draw) }
  return { 'idempotency-key': draw.chance(0.2) ? 'the-same-one' : word() }
}

function bodyOf({ body, method }: Route, odd: ReadonlySet<Part>, source: Source): Buffer | undefined {
  const { draw } = source
  if (odd.has('body')) return nastyBody(draw)
  if (body === undefined) return method === 'DELETE' && draw.chance(0.1) ? Buffer.from('{}') : undefined
  const right = rightObject(body, source)
  return Buffer.from(JSON.stringify(odd.has('member') ? withOddMember(right, body, source) : right))
}

function withOddMember(right: Record<string, unknown>, body: Schema, { draw, document }: Source): unknown {
  const known = alternativesOf(body, document).flatMap(({ properties = {} }) => Object.keys(properties))
  const members = [...known, 'unknown']
  const odd = draw.several(2, () => [draw.one(members), nastyValue(draw)] as const)
  const wholly = [draw.one(members), draw.chance(0.7) ? nastyText(draw) : nastyObject(draw)] as const
  return draw.chance(0.1)
    ? { ...right, ...nastyObject(draw) }
    : Object.fromEntries([...Object.entries(right), ...odd, wholly])
}
