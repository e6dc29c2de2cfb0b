import { readFile } from 'node:fs/promises'
import { domainToASCII } from 'node:url'
import { ConfigurationError } from '@restante/service/configuration'
import { messageOf } from '@restante/service/errors'
import { z } from 'zod'
import { type SenderRoutes, type Smarthost, tlsOf } from './smarthost.ts'

const VARIABLE = 'SENDER_ROUTES_FILE'

const relay = z.strictObject({
  host: z.string().regex(/^[^\s[\]]+$/, 'must be a name or an address'),
  port: z.int().min(1).max(65_535).default(25),
  tls: z.enum(['auto', 'opportunistic', 'required', 'implicit', 'none']).default('auto'),
  user: z.string().min(1).optional(),
  password: z.string().min(1).optional(),
  password_file: z.string().min(1).optional(),
  concurrency: z.int().min(1).max(1_000).optional(),
})
type Relay = z.output<typeof relay>

/**
 * Reads where the mail of sending domains goes (JSON), such as `{"example.com": {"host": "relay.example.net"}}`.
 * @param file undefined: no domain has a route of its own.
 * @throws ConfigurationError naming every entry that is wrong, and no value: it may be a password.
 */
export async function readSenderRoutes(file: string | undefined): Promise<SenderRoutes> {
  if (file === undefined) return new Map()
  const problems: string[] = []
  const routes = new Map<string, Smarthost | 'direct'>()
  for (const [name, given] of entriesOf(await textOf(file, `${VARIABLE} ${file}`), file)) {
    const place = `${VARIABLE} ${file}: ${JSON.stringify(name)}`
    try {
      const domain = domainOf(name, place)
      if (routes.has(domain)) problems.push(`${place} is there twice`)
      routes.set(domain, await routeOf(given, place))
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  return routes
}

/** Lower case, in A-labels; a dot in front is kept. */
function domainOf(name: string, place: string): string {
  const dot = name.startsWith('.') ? '.' : ''
  const domain = domainToASCII(name.slice(dot.length)).toLowerCase()
  if (!/^[^.]+(\.[^.]+)+$/.test(domain)) throw new ConfigurationError([`${place} is no domain`])
  return dot + domain
}

async function textOf(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new ConfigurationError([`${what} cannot be read: ${messageOf(error)}`])
  }
}

/** The message of the parser would quote the text, and so maybe a password. */
function entriesOf(text: string, file: string): [string, unknown][] {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return Object.entries(parsed)
  } catch {}
  throw new ConfigurationError([`${VARIABLE} ${file} must hold a JSON object with a route for each domain`])
}

async function routeOf(given: unknown, place: string): Promise<Smarthost | 'direct'> {
  if (given === 'direct') return given
  if (typeof given !== 'object') throw new ConfigurationError([`${place} must be "direct" or a smarthost`])
  const read = relay.safeParse(given)
  if (read.success) return smarthostOf(read.data, place)
  throw new ConfigurationError(
    read.error.issues.map(({ path, message }) => `${[place, ...path].join('.')}: ${message}`),
  )
}

async function smarthostOf(given: Relay, place: string): Promise<Smarthost> {
  const { host, port, tls, user, password, password_file: file, concurrency } = given
  if (password !== undefined && file !== undefined) {
    throw new ConfigurationError([`${place} has both password and password_file`])
  }
  const pass = file === undefined ? password : (await textOf(file, `${place}.password_file`)).replace(/\r?\n$/, '')
  if ((user === undefined) !== (pass === undefined)) {
    throw new ConfigurationError([`${place} needs both user and password, or neither`])
  }
  const credentials = user !== undefined && pass !== undefined ? { user, pass } : undefined
  return { host, port, tls: tlsOf(tls, credentials !== undefined), credentials, concurrency }
}
