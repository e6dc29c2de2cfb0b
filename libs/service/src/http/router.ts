/** What a path leads to, with the decoded values of its parameters. */
export interface Match<T> {
  readonly value: T
  readonly params: Readonly<Record<string, string>>
}

interface Node<T> {
  readonly fixed: Map<string, Node<T>>
  /** The node behind a `{parameter}` segment at this depth. */
  variable: Node<T> | undefined
  readonly routes: Map<string, { readonly value: T; readonly names: readonly string[] }>
}

function node<T>(): Node<T> {
  return { fixed: new Map(), variable: undefined, routes: new Map() }
}

/**
 * A route table over path segments. The raw path is split first and each segment decoded afterwards, so that an
 * encoded slash inside a Message-ID is data (mail 1, rule 3). A fixed segment wins over a parameter at the same depth.
 */
export class Router<T> {
  readonly #root = node<T>()

  /** @throws Error when the same method and path is added twice. */
  add(method: string, path: string, value: T): void {
    let current = this.#root
    const names: string[] = []
    for (const segment of path.split('/').filter(Boolean)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1))
        current.variable ??= node()
        current = current.variable
      } else {
        const next = current.fixed.get(segment) ?? node<T>()
        current.fixed.set(segment, next)
        current = next
      }
    }
    if (current.routes.has(method)) throw new Error(`${method} ${path} is defined twice`)
    current.routes.set(method, { value, names })
  }

  /**
   * @param path the raw path, without query; one trailing slash is tolerated, an empty segment leads nowhere.
   * @returns the match; or the methods that the path does have; or `undefined` when there is no such path.
   */
  match(method: string, path: string): Match<T> | { readonly allowed: readonly string[] } | undefined {
    const segments = decodeSegments(path)
    if (segments === undefined) return undefined
    const found = this.#find(this.#root, segments, 0, [])
    if (found === undefined) return undefined
    const route = found.node.routes.get(method) ?? (method === 'HEAD' ? found.node.routes.get('GET') : undefined)
    if (route === undefined) return { allowed: [...found.node.routes.keys()] }
    const params: Record<string, string> = {}
    route.names.forEach((name, index) => {
      params[name] = found.values[index] ?? ''
    })
    return { value: route.value, params }
  }

  #find(
    at: Node<T>,
    segments: readonly string[],
    depth: number,
    values: readonly string[],
  ): { node: Node<T>; values: readonly string[] } | undefined {
    const segment = segments[depth]
    if (segment === undefined) return at.routes.size > 0 ? { node: at, values } : undefined
    const fixed = at.fixed.get(segment)
    const viaFixed = fixed && this.#find(fixed, segments, depth + 1, values)
    if (viaFixed) return viaFixed
    return at.variable && this.#find(at.variable, segments, depth + 1, [...values, segment])
  }
}

function decodeSegments(path: string): string[] | undefined {
  const start = path.startsWith('/') ? 1 : 0
  const end = path.endsWith('/') ? path.length - 1 : path.length
  const raw = path.slice(start, end).split('/')
  if (raw.includes('')) return undefined
  if (!path.includes('%')) return raw
  try {
    const segments = raw.map(decodeURIComponent)
    // No name holds a NUL, and no database could be asked for one.
    return segments.some((segment) => segment.includes('\u0000')) ? undefined : segments
  } catch {
    return undefined
  }
}
