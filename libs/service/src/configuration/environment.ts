import { isIP } from 'node:net'
import { z } from 'zod'

/** Units that `duration` understands, in milliseconds. */
const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
type Unit = keyof typeof UNITS

function isUnit(text: string): text is Unit {
  return text in UNITS
}

/** `250ms`, `5s`, `15m`, `72h`, `30d` to milliseconds; `undefined` when it is none of these. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text)
  const [, digits, unit] = match ?? []
  return digits !== undefined && unit !== undefined && isUnit(unit) ? Number(digits) * UNITS[unit] : undefined
}

/** A rate: this many requests per period on average, and at most `burst` at once. */
export interface Rate {
  readonly requests: number
  readonly period: 'second' | 'minute' | 'hour'
  readonly periodMs: number
  readonly burst: number
}

const PERIODS = { s: 'second', m: 'minute', h: 'hour' } as const

/**
 * Parses `100/s`, `300/m`, `60/h` into a rate whose burst is one period's allowance; `undefined` when it is none of
 * these.
 */
function parseRate(text: string): Rate | undefined {
  const [, digits, unit] = /^([1-9]\d{0,5})\/(s|m|h)$/.exec(text) ?? []
  if (digits === undefined || (unit !== 's' && unit !== 'm' && unit !== 'h')) return undefined
  const requests = Number(digits)
  return { requests, period: PERIODS[unit], periodMs: UNITS[unit], burst: requests }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

const boundedInteger = (message: string, min: number, max: number) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max, message)
    .transform(Number)

/**
 * Marks a variable whose value must not be stored where settings are: it belongs into a Secret of the installation.
 * @param shared whether all services that read the variable need the same value.
 */
export function confidential<T extends z.ZodType>(type: T, { shared = false }: { readonly shared?: boolean } = {}): T {
  return type.meta({ confidential: shared ? 'shared' : 'own' })
}

/**
 * Types of environment variables: flat strings in, typed values out. A variable without a default is required.
 * An empty variable counts as absent.
 */
export const env = {
  string: (fallback?: string) => withDefault(z.string().min(1), fallback),
  /** A secret: at least 16 characters, never printed. Services that share a variable share its value if `shared`. */
  secret: (options?: { readonly shared?: boolean }) =>
    confidential(z.string().min(16, 'must have at least 16 characters'), options),
  /** A URL that may contain a password. */
  confidentialUrl: () => confidential(z.url({ error: 'must be a URL' })),
  url: (fallback?: string) => withDefault(z.url({ error: 'must be a URL' }), fallback),
  port: (fallback?: number) => withDefault(boundedInteger('must be a port number', 0, 65_535), fallback?.toString()),
  integer: (fallback?: number, max = Number.MAX_SAFE_INTEGER, min = 0) =>
    withDefault(boundedInteger('must be a whole number', min, max), fallback?.toString()),
  /** Duration such as `5s` in, milliseconds out. */
  duration: (fallback?: string) =>
    withDefault(
      z.string().transform((text, context) => {
        const ms = parseDuration(text)
        if (ms !== undefined) return ms
        context.addIssue({ code: 'custom', message: 'must be a duration such as 250ms, 5s, 15m, 72h or 30d' })
        return z.NEVER
      }),
      fallback,
    ),
  /** Rate such as `100/s` in, `Rate` out. */
  rate: (fallback?: string) =>
    withDefault(
      z.string().transform((text, context) => {
        const rate = parseRate(text)
        if (rate !== undefined) return rate
        context.addIssue({ code: 'custom', message: 'must be a rate such as 100/s, 300/m or 60/h' })
        return z.NEVER
      }),
      fallback,
    ),
  flag: (fallback = false) =>
    z
      .enum(['true', 'false'], { error: 'must be true or false' })
      .default(fallback ? 'true' : 'false')
      .transform((text) => text === 'true'),
  /** Comma-separated words. */
  list: (fallback = '') =>
    z
      .string()
      .default(fallback)
      .transform((text) =>
        text
          .split(',')
          .map((word) => word.trim())
          .filter(Boolean),
      ),
  /** Comma-separated addresses and networks (CIDR). */
  networks: () =>
    env.list().refine((networks) => networks.every(isNetwork), 'must be IP addresses or networks such as 10.0.0.0/8'),
  choice: <const T extends readonly [string, ...string[]]>(values: T, fallback: T[number]) =>
    z.enum(values, { error: `must be one of ${values.join(', ')}` }).default(fallback),
}

function withDefault<Out>(
  type: z.ZodType<Out, string>,
  fallback: string | undefined,
): z.ZodType<Out, string | undefined> {
  // A prefault is parsed like a given value, so defaults are written the way people write values.
  return fallback === undefined ? type : type.prefault(fallback)
}

/** Names every wrong variable at once, so that one restart is enough to fix them all. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'ConfigurationError'
    this.problems = problems
  }
}

/**
 * First step of configuration: the flat, typed environment. Pure; nothing else reads `process.env`.
 * @throws ConfigurationError naming every variable that is missing or wrong (never its value: it may be a secret).
 */
export function readEnvironment<S extends z.ZodObject>(
  schema: S,
  source: Readonly<Record<string, string | undefined>>,
): z.output<S> {
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(given)
  if (result.success) return result.data
  throw new ConfigurationError(problemsOf(result.error, given))
}

/** One sentence for each variable that is missing or wrong. @param given the variables that are present. */
export function problemsOf(error: z.ZodError, given: Readonly<Record<string, unknown>>): string[] {
  return error.issues.map((issue) => {
    const name = String(issue.path[0])
    return `${name} ${given[name] === undefined ? 'is missing' : issue.message}`
  })
}
