import { MESSAGE_ID_PARAMETER } from '@restante/contracts/operations'

/** What a path resolves to, with the decoded values of its parameters. */
export interface Match<T> {
  readonly value: T
  readonly params: Readonly<Record<string, string>>
  /** The raw path, in which each parameter is one segment. */
  readonly path: string
}

interface Node<T> {
  readonly fixed: Map<string, Node<T>>
  /** The node after a `{parameter}` segment at this depth. */
  variable: { readonly node: Node<T>; readonly name: string } | undefined
  readonly routes: Map<string, { readonly value: T; readonly names: readonly string[] }>
}

function node<T>(): Node<T> {
  return { fixed: new Map(), variable: undefined, routes: new Map() }
}

/** A path split at its slashes: as it was sent, and decoded. */
interface Segments {
  readonly raw: readonly string[]
  readonly decoded: readonly string[]
}

/**
 * A route table over path segments. The raw path is split first and each segment decoded afterwards, so that an encoded
 * slash inside a Message-ID is data (mail 1, rule 3). A fixed segment wins over a parameter at the same depth, even
 * where no route continues from it: it is never taken for an id (identity 1.2).
 */
export class Router<T> {
  readonly #root = node<T>()

  /** @throws Error when the same method and path is added twice. */
  add(method: string, path: string, value: T): void {
    const { at, names } = this.#nodeOf(path)
    if (at.routes.has(method)) throw new Error(`${method} ${path} is defined twice`)
    at.routes.set(method, { value, names })
  }

  /** Keeps the fixed segments of a path from being taken for ids, even if the path itself has no route. */
  reserve(path: string): void {
    this.#nodeOf(path)
  }

  #nodeOf(path: string): { at: Node<T>; names: string[] } {
    let at = this.#root
    const names: string[] = []
    for (const segment of path.split('/').filter(Boolean)) {
      if (segment.startsWith('{')) {
        const name = segment.slice(1, -1)
        names.push(name)
        at.variable ??= { node: node(), name }
        at = at.variable.node
      } else {
        const next = at.fixed.get(segment) ?? node<T>()
        at.fixed.set(segment, next)
        at = next
      }
    }
    return { at, names }
  }

  /**
   * @param path the raw path, without query; one trailing slash is tolerated, an empty segment matches nothing.
   * @returns the match; or the methods that the path does have; or `undefined` when there is no such path.
   */
  match(method: string, path: string): Match<T> | { readonly allowed: readonly string[] } | undefined {
    const segments = segmentsOf(path)
    if (segments === undefined) return undefined
    const found = this.#find(segments)
    if (found === undefined || found.at.routes.size === 0) return undefined
    const { routes } = found.at
    const route = routes.get(method) ?? (method === 'HEAD' ? routes.get('GET') : undefined)
    if (route === undefined) return { allowed: [...routes.keys()] }
    const params = Object.fromEntries(route.names.map((name, index) => [name, found.values[index] ?? '']))
    return { value: route.value, params, path: found.raw === undefined ? path : `/${found.raw.join('/')}` }
  }

  /** The node of a path, the values of its parameters and, where segments were joined, the raw segments. */
  #find({ raw, decoded }: Segments): { at: Node<T>; values: string[]; raw: string[] | undefined } | undefined {
    let at = this.#root
    let joined: string[] | undefined
    const values: string[] = []
    for (let depth = 0; depth < decoded.length; ) {
      const segment = decoded[depth] ?? ''
      const fixed = at.fixed.get(segment)
      if (fixed !== undefined) {
        joined?.push(segment)
        at = fixed
        depth++
        continue
      }
      if (at.variable === undefined) return undefined
      const length = at.variable.name === MESSAGE_ID_PARAMETER ? lengthOfMessageId(decoded, depth) : 1
      const parts = decoded.slice(depth, depth + length)
      if (length > 1 && parts.some((part) => part === '.' || part === '..')) return undefined
      const value = parts.join('/')
      if (length > 1) joined ??= raw.slice(0, depth)
      joined?.push(length > 1 ? encodeURIComponent(value) : (raw[depth] ?? ''))
      values.push(value)
      at = at.variable.node
      depth += length
    }
    return { at, values, raw: joined }
  }
}

/**
 * How many segments a message id spans: from one that begins with `<` to the next that ends with `>`. Without an end
 * nothing is joined.
 */
function lengthOfMessageId(segments: readonly string[], start: number): number {
  if (!segments[start]?.startsWith('<')) return 1
  const end = segments.findIndex((segment, index) => index >= start && segment.endsWith('>'))
  return end < 0 ? 1 : end - start + 1
}

function segmentsOf(path: string): Segments | undefined {
  const start = path.startsWith('/') ? 1 : 0
  const end = path.endsWith('/') ? path.length - 1 : path.length
  const raw = path.slice(start, end).split('/')
  if (raw.includes('')) return undefined
  if (!path.includes('%')) return { raw, decoded: raw }
  try {
    const decoded = raw.map(decodeURIComponent)
    // No name contains a NUL, and PostgreSQL does not accept one.
    return decoded.some((segment) => segment.includes('\u0000')) ? undefined : { raw, decoded }
  } catch {
    return undefined
  }
}
