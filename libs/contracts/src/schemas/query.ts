import { z } from 'zod'
import { onWire } from '../validation/wire.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { instantInput } from './text.ts'

/** Query of a request after `decodeQuery`: a list if a name was repeated or written as `k[]`. */
export type RawQuery = Readonly<Record<string, string | readonly string[]>>

/** Characters of an unknown name that its refusal repeats. */
const SHOWN = 100

/** Names whose empty value is an error; elsewhere `name=` counts as absent (identity 1.3). */
const MEANINGFUL_EMPTY = new Set(['q', 'page_token'])

/**
 * Decodes a query string for the query schemas. `k[]=` and `k[0]=` are other spellings of `k=`, and empty values
 * without a meaning are removed.
 */
export function decodeQuery(search: string | URLSearchParams): RawQuery {
  if (search === '') return {}
  const found = new Map<string, string | string[]>()
  for (const [spelling, value] of new URLSearchParams(search)) {
    const name = spelling.replace(/\[\d*\]$/, '')
    if (value === '' && !MEANINGFUL_EMPTY.has(name)) continue
    const before = found.get(name)
    if (before === undefined) found.set(name, name === spelling ? value : [value])
    else if (typeof before === 'string') found.set(name, [before, value])
    else before.push(value)
  }
  return Object.fromEntries(found)
}

/** Decoded queries contain no other types, so only an absent value is rejected. */
const raw = z.union([z.string(), z.array(z.string())], { error: 'Required' })

const single = raw.transform((value, context): string => {
  if (typeof value === 'string') return value
  context.addIssue({ code: 'custom', message: 'Give this parameter once' })
  return z.NEVER
})

/**
 * List of strings in each of its spellings: one value that is a JSON array, repeated names, or one value with commas
 * (mail 1 rule 1). A literal comma needs the JSON spelling. Empty elements are dropped.
 */
export const queryList = listIn((repeated) => [...repeated])

/** The same for a list whose elements have no commas: each of repeated values is divided at its commas, too. */
export const queryListWithoutCommas = listIn((repeated) => repeated.flatMap((value) => value.split(',')))

function listIn(ofRepeated: (values: readonly string[]) => string[]) {
  return onWire(
    raw
      .transform((value) =>
        (typeof value === 'string' ? splitList(value) : ofRepeated(value)).filter((element) => element.trim() !== ''),
      )
      // No text in a database contains NUL, and no query may send it.
      .refine((elements) => elements.every((element) => !element.includes('\0')), { error: 'Must not contain NUL' }),
    {
      type: 'array',
      items: { type: 'string' },
      description: 'A JSON array (`["a","b"]`), the name repeated, or a comma list.',
    },
  )
}

function splitList(value: string): string[] {
  return (value.startsWith('[') ? jsonScalars(value) : undefined) ?? value.split(',')
}

const scalars = z.array(z.union([z.string(), z.number(), z.boolean()]))

function jsonScalars(text: string): string[] | undefined {
  try {
    const parsed = scalars.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data.map(String) : undefined
  } catch {
    return undefined
  }
}

/** One value of at most `max` characters. */
export function queryText(max: number) {
  return onWire(single.pipe(z.string().min(1).max(max)), { type: 'string', maxLength: max })
}

/** `true` or `false`. */
export const queryBoolean = onWire(
  single.pipe(z.enum(['true', 'false'], { error: 'Must be true or false' })).transform((word) => word === 'true'),
  { type: 'boolean' },
)

/** Decimal digits, at least `min`; above `max` the maximum is served. */
export function queryInteger({ min, max }: { readonly min: number; readonly max: number }) {
  return onWire(
    single
      .pipe(z.string().regex(/^-?\d+$/, { error: 'Must be a whole number', abort: true }))
      .transform(Number)
      .pipe(z.number().min(min))
      .transform((value) => Math.min(value, max)),
    { type: 'integer', minimum: min },
  )
}

/** Decimal digits from `min` to `max`; anything else is refused. */
export function queryIntegerWithin({ min, max }: { readonly min?: number; readonly max: number }) {
  const least = min ?? 1
  return onWire(
    queryInteger({ min: least, max: Number.MAX_SAFE_INTEGER }).refine((value) => value <= max, {
      error: `Must be at most ${max}`,
    }),
    { type: 'integer', minimum: least, maximum: max },
  )
}

/** Names of a fixed set, each once, in each spelling of a list; an unknown one is refused at its index. None: absent. */
export function queryNames<const Name extends string>(names: readonly Name[], what: string) {
  const known: ReadonlyMap<string, Name> = new Map(names.map((name) => [name, name]))
  return onWire(
    queryListWithoutCommas.transform((given, context): Name[] | undefined => {
      for (const [index, name] of given.entries()) {
        if (known.has(name)) continue
        const message = `Unknown ${what}: ${name.slice(0, SHOWN)}`
        context.addIssue({ code: 'custom', path: [index], message })
      }
      return given.length === 0 ? undefined : [...new Set(given.flatMap((name) => known.get(name) ?? []))]
    }),
    { type: 'array', items: { type: 'string', enum: names } },
  )
}

/** An instant; a `+` that arrived unencoded, and so as a blank, is put back. */
export const queryDateTime = onWire(
  single.transform((text) => text.replace(/ (?=\d\d:\d\d$)/, '+')).pipe(instantInput),
  { type: 'string', format: 'date-time' },
)

/** `page_token`: opaque here; the service that issued it opens it. Empty is an error, not a first page. */
export const pageToken = onWire(single.pipe(z.string().min(1, { error: 'Invalid page token' })), {
  type: 'string',
  description: 'Cursor of a previous page, with the same filters.',
})

/** Page members of a list without content filters: a larger `limit` is served with the cap (identity 1.4). */
export const pageQuery = {
  limit: queryInteger({ min: 1, max: LIMITS.page.max }).optional(),
  page_token: pageToken.optional(),
}

/** The same for a list that can be turned round. */
export const orderedPageQuery = { ...pageQuery, ascending: queryBoolean.optional() }

/** Text of a search (identity 8.7). */
export function searchText({ min, max }: { readonly min: number; readonly max: number }) {
  // No text in a database contains NUL, and no query may send it.
  const text = z.string().refine((value) => !value.includes('\0'), { error: 'Must not contain NUL' })
  return onWire(single.pipe(text.trim().min(min).max(max)), { type: 'string', minLength: min, maxLength: max })
}

/** Text of a search in mail: words between white space (mail 17). */
export const mailSearchText = onWire(
  searchText(LIMITS.search.text).refine((text) => text.split(/\s+/u).length <= LIMITS.search.words, {
    error: `Must have at most ${LIMITS.search.words} words`,
  }),
  { type: 'string', minLength: LIMITS.search.text.min, maxLength: LIMITS.search.text.max },
)

const searchLimit = queryIntegerWithin({ max: LIMITS.page.max })

/** Page members of a search: a `limit` above the cap is refused (identity 1.4). */
export const searchPageQuery = { limit: searchLimit.optional(), page_token: pageToken.optional() }

/** Items on a page: the requested number, or the default. Only a requested number is echoed. */
export function pageSize(limit: number | undefined): number {
  return limit ?? LIMITS.page.default
}

/** The error of a content-filtered list, or a search, with a limit above the maximum (mail 1). */
export const FILTERED_LIMIT_MESSAGE = `limit cannot exceed ${LIMITS.page.max} for filtered queries`

/** A list with a content filter rejects a `limit` above the maximum; a list without one reduces it (mail 1, apps 1). */
export function capWhenFiltered<Query extends { limit?: number | undefined }>(
  query: Query,
  filters: readonly (keyof Query)[],
  context: z.RefinementCtx,
): void {
  if (query.limit === undefined || query.limit <= LIMITS.page.max) return
  if (filters.every((name) => query[name] === undefined)) return
  context.addIssue({ code: 'custom', path: ['limit'], message: FILTERED_LIMIT_MESSAGE })
}
