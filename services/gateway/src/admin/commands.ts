import { parseArgs } from 'node:util'
import type { BoundCredential } from '../credentials/store.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { OperatorMistake } from './mistake.ts'
import type { MadeKey, Operator } from './operator.ts'
import { moment, table } from './table.ts'

export const USAGE = `Usage: npm run admin -- <command>

  organizations create [--inboxes <limit>] [--domains <limit>]
                                     an organization with an unrestricted key
  organizations first [--json]       the same, unless there is an organization already
  organizations list
  organizations suspend <id>         it reads and receives, but does not send
  organizations resume <id>

  keys create <organization id> [--pod <id> | --inbox <address>] [--name <name>]
                                [--permissions <name,name,...>] [--expires <date and time>]
  keys list <organization id>
  keys revoke <key id>
`

type Command = (operator: Operator, words: readonly string[]) => Promise<string>

const COMMANDS: Readonly<Record<string, Command>> = {
  'organizations create': async (operator, words) => {
    const { values } = parse(words, 0, ['inboxes', 'domains'])
    const limits = { inboxes: limit('inboxes', values['inboxes']), domains: limit('domains', values['domains']) }
    const { organization, key } = await operator.createOrganization(limits)
    return madeOrganization(organization, key)
  },
  'organizations first': async (operator, words) => {
    const json = words.includes('--json')
    parse(
      words.filter((word) => word !== '--json'),
      0,
      [],
    )
    const made = await operator.ensureFirstOrganization()
    if (json) return JSON.stringify(made ? { organization_id: made.organization.id, api_key: made.key.secret } : {})
    return made ? madeOrganization(made.organization, made.key) : 'There is an organization already.'
  },
  'organizations list': async (operator, words) => {
    parse(words, 0, [])
    return organizationTable(await operator.listOrganizations())
  },
  'organizations suspend': async (operator, words) => {
    const id = parse(words, 1, []).first
    const changed = await operator.setStatus(id, 'suspended')
    return changed ? `Suspended ${id}. It can be resumed.` : `${id} was suspended already.`
  },
  'organizations resume': async (operator, words) => {
    const id = parse(words, 1, []).first
    const changed = await operator.setStatus(id, 'active')
    return changed ? `Resumed ${id}.` : `${id} was not suspended.`
  },
  'keys create': async (operator, words) => {
    const { first, values } = parse(words, 1, ['pod', 'inbox', 'name', 'permissions', 'expires'])
    const made = await operator.createKey({
      organizationId: first,
      pod: values['pod'],
      inbox: values['inbox'],
      name: values['name'],
      permissions: values['permissions']?.split(',').map((name) => name.trim()),
      expiresAt: instant(values['expires']),
    })
    return `Key ${made.row.id}\n${secretOnce(made)}`
  },
  'keys list': async (operator, words) => keyTable(await operator.listKeys(parse(words, 1, []).first)),
  'keys revoke': async (operator, words) => {
    const id = parse(words, 1, []).first
    await operator.revokeKey(id)
    return `Revoked ${id}.`
  },
}

/** Runs one command. @returns what the operator reads. @throws OperatorMistake */
export async function execute(operator: Operator, words: readonly string[]): Promise<string> {
  const name = words.slice(0, 2).join(' ')
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) throw new OperatorMistake(`${name === '' ? 'No' : 'Unknown'} command.\n\n${USAGE}`)
  return command(operator, words.slice(2))
}

/** @param arguments_ how many words must stand beside the options. */
function parse(words: readonly string[], arguments_: 0 | 1, options: readonly string[]) {
  const known = Object.fromEntries(options.map((name) => [name, { type: 'string' as const }]))
  const { positionals, values } = parsed(words, known)
  if (positionals.length !== arguments_) throw new OperatorMistake(USAGE)
  return { first: positionals[0] ?? '', values }
}

function parsed(words: readonly string[], options: Record<string, { type: 'string' }>) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new OperatorMistake(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function limit(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new OperatorMistake(`--${name} must be a whole number.`)
}

function instant(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw new OperatorMistake('--expires must be a date and time, 2027-01-31T12:00:00Z.')
  return at
}

function madeOrganization(organization: Organization, key: MadeKey): string {
  return `Organization ${organization.id}\n${secretOnce(key)}`
}

function secretOnce({ secret }: MadeKey): string {
  return `API key      ${secret}\nThe key is shown only now; store it.`
}

function organizationTable(rows: readonly Organization[]): string {
  if (rows.length === 0) return 'No organizations.'
  return table(
    ['ORGANIZATION', 'STATUS', 'KIND', 'HUMAN', 'INBOXES', 'LIMIT', 'CREATED'],
    rows.map((row) => [
      row.id,
      row.status,
      row.authenticationType ?? 'operator',
      row.humanEmail ?? '-',
      String(row.inboxCount),
      row.inboxLimit === null ? '-' : String(row.inboxLimit),
      moment(row.createdAt),
    ]),
  )
}

function keyTable(rows: readonly BoundCredential[]): string {
  if (rows.length === 0) return 'No keys.'
  return table(
    ['KEY', 'PREFIX', 'NAME', 'BOUND TO', 'PERMISSIONS', 'LAST USED', 'EXPIRES', 'CREATED'],
    rows.map((row) => [
      row.id,
      row.prefix ?? 'public key',
      row.name,
      row.inbox?.address ?? (row.podId === null ? 'organization' : `pod ${row.podId}`),
      Array.isArray(row.permissions) ? `${row.permissions.length} granted` : 'unrestricted',
      moment(row.usedAt),
      moment(row.expiresAt),
      moment(row.createdAt),
    ]),
  )
}
