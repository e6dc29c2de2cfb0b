import { Argument, type Command, Option } from '@commander-js/extra-typings'
import type { Organization } from '../../generated/prisma/client.ts'
import type { MadeKey } from '../operator/keys.ts'
import type { Limits } from '../operator/operator.ts'
import type { OrganizationStatus } from '../operator/organizations.ts'
import { UsageError } from '../operator/usage-error.ts'
import type { Console } from '../output/console.ts'
import { json, organizationDocument, statusOf } from '../output/documents.ts'
import { printList } from '../output/list.ts'
import { facts, moment } from '../output/table.ts'
import { human, humanName, humanOrNone, JSON_OPTION, limit, limitOrNull } from './arguments.ts'
import { printedKey } from './keys.ts'

const STATUSES: readonly OrganizationStatus[] = ['active', 'suspended', 'deleting']
const INBOXES = ['--inboxes <n>', 'maximum number of inboxes; none: no limit'] as const
const DOMAINS = ['--domains <n>', 'maximum number of domains; none: that of the installation'] as const
const KEYS = ['--keys <n>', "live keys it may have; none: the installation's CREDENTIAL_LIMIT"] as const
const HUMAN_NAME = ['--human-name <name>', 'name of its human, for apps that ask who the owner is'] as const
const ID = ['<organization>', 'its id'] as const

/** Poll interval of a command that waits for a deletion. */
const LOOK_MS = 250

export function addOrganizationCommands(root: Command, console: Console): void {
  const commands = root.command('organizations').description('tenants: everything belongs to exactly one')
  addCreate(commands, console)
  addRead(commands, console)
  addStatus(commands, console)
  addLimits(commands, console)
  addHuman(commands, console)
  addCalendar(commands, console)
  addDelete(commands, console)
}

function addCreate(commands: Command, console: Console): void {
  commands
    .command('create')
    .description('create an organization with its default pod and an unrestricted key')
    .option(...INBOXES, limit)
    .option(...DOMAINS, limit)
    .option(...KEYS, limit)
    .option('--human <address>', 'e-mail address of its human; sign-ups that name this human are refused', human)
    .option(...HUMAN_NAME, humanName)
    .option(...JSON_OPTION)
    .action(async (given) => {
      const { human: address, humanName: name } = given
      if (address === undefined && name !== undefined)
        throw new UsageError('A name needs its human: give --human, too.')
      const named = address === undefined ? undefined : { address, name }
      const made = await console.operator().createOrganization(limitsIn(given), named)
      console.print(printedOrganization(made, given.json))
    })

  commands
    .command('first')
    .description('the same, unless an organization exists already; safe to run concurrently')
    .option(...JSON_OPTION)
    .action(async ({ json: asJson }) => {
      const made = await console.operator().ensureFirstOrganization()
      if (made !== undefined) console.print(printedOrganization(made, asJson))
      else console.print(asJson ? '{}' : 'An organization exists already.')
    })
}

function addRead(commands: Command, console: Console): void {
  commands
    .command('list')
    .description('all organizations, oldest first')
    .addOption(new Option('--status <status>', 'only those in this state').choices(STATUSES))
    .option(...JSON_OPTION)
    .action(async ({ status, json: asJson }) => {
      const headings = ['ORGANIZATION', 'STATUS', 'KIND', 'HUMAN', 'INBOXES', 'LIMIT', 'CREATED']
      const form = asJson ? { document: organizationDocument } : { headings, cells: cellsOf, none: 'No organizations.' }
      const pages = console.operator().organizations(STATUSES.find((known) => known === status))
      await printList(console, pages, form)
    })

  commands
    .command('show')
    .description('one organization with its limits and counts')
    .argument(...ID)
    .option(...JSON_OPTION)
    .action(async (id, { json: asJson }) => {
      const { row, keys, pods } = await console.operator().organization(id)
      if (asJson) console.print(json({ ...organizationDocument(row), pod_count: pods, api_key_count: keys }))
      else console.print(factsOf(row, { keys, pods }))
    })
}

function addStatus(commands: Command, console: Console): void {
  commands
    .command('suspend')
    .description('suspend it: it reads and receives, but does not send')
    .argument(...ID)
    .action(async (id) => {
      const changed = await console.operator().setStatus(id, 'suspended')
      console.print(changed ? `Suspended ${id}. It can be resumed.` : `${id} was suspended already.`)
    })

  commands
    .command('resume')
    .description('resume a suspended organization, which may send again')
    .argument(...ID)
    .action(async (id) => {
      const changed = await console.operator().setStatus(id, 'active')
      console.print(changed ? `Resumed ${id}.` : `${id} was not suspended.`)
    })
}

function addLimits(commands: Command, console: Console): void {
  commands
    .command('limits')
    .description('show its limits, or change the given ones')
    .argument(...ID)
    .option(...INBOXES, limit)
    .option(...DOMAINS, limit)
    .option(...KEYS, limit)
    .option(...JSON_OPTION)
    .action(async (id, given) => {
      const changed = await console.operator().setLimits(id, limitsIn(given))
      const { row } = await console.operator().organization(id)
      const { inboxLimit: inboxes, domainLimit: domains, credentialLimit: keys } = row
      if (given.json) return console.print(json({ inbox_limit: inboxes, domain_limit: domains, api_key_limit: keys }))
      if (changed) console.say('Changed. Existing resources stay, even beyond a limit.')
      console.print(facts(limitsOf(row)))
    })
}

function addHuman(commands: Command, console: Console): void {
  commands
    .command('human')
    .description('set its human, whose sign-ups are then refused, or none')
    .argument(...ID)
    .argument('<address>', 'an e-mail address, or none', humanOrNone)
    .option(...HUMAN_NAME, humanName)
    .action(async (id, address, { humanName: name }) => {
      const isOther = await console.operator().setHuman(id, address)
      const isRenamed = name !== undefined && (await console.operator().setHumanName(id, name))
      const changed = isOther || isRenamed
      const now = address === null ? 'not set' : address
      console.print(changed ? `Human of ${id}: ${now}.` : `Human of ${id}: ${now}, unchanged.`)
    })
}

function addCalendar(commands: Command, console: Console): void {
  commands
    .command('calendar')
    .description('open the calendars of its inboxes to its keys, or close them; their events stay')
    .argument(...ID)
    .addArgument(new Argument('<access>', 'on or off').choices(['on', 'off'] as const))
    .action(async (id, access) => {
      const changed = await console.operator().setCalendarAccess(id, access === 'on')
      console.print(`Calendars of ${id}: ${access}${changed ? '' : ', unchanged'}.`)
    })
}

function addDelete(commands: Command, console: Console): void {
  commands
    .command('delete')
    .description('delete it with everything it holds: keys at once, inboxes and mail afterwards')
    .argument(...ID)
    .option('--yes', 'do not ask')
    .option('--wait', 'wait until nothing of it is left')
    .action(async (id, { yes, wait }) => {
      if (!yes) await confirm(console, id)
      const begun = await console.operator().deleteOrganization(id)
      console.print(
        begun ? `${id} is being deleted. Its API keys have been revoked.` : `${id} was being deleted already.`,
      )
      if (!wait) return
      while (!(await console.operator().isGone(id))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      console.print(`${id} is gone.`)
    })
}

type GivenLimits = { [Name in keyof Limits]?: number | 'none' | undefined }

function limitsIn({ inboxes, domains, keys }: GivenLimits): Limits {
  return { inboxes: limitOrNull(inboxes), domains: limitOrNull(domains), keys: limitOrNull(keys) }
}

/** @throws UsageError unless the id is typed again. */
async function confirm(console: Console, id: string): Promise<void> {
  const { row } = await console.operator().organization(id)
  const what = `${row.inboxCount} ${row.inboxCount === 1 ? 'inbox' : 'inboxes'} and all mail`
  const answer = await console.ask(`This deletes ${what}, permanently. Type the id of the organization to continue:  `)
  if (answer === undefined) throw new UsageError('No terminal to ask on. Use --yes to delete it permanently.')
  if (answer.trim() !== id) throw new UsageError('The id does not match. Nothing was deleted.')
}

function printedOrganization(made: { organization: Organization; key: MadeKey }, asJson: true | undefined): string {
  const { organization, key } = made
  if (asJson) return json({ organization_id: organization.id, api_key_id: key.row.id, api_key: key.secret })
  return `Organization ${organization.id}\n${printedKey(key)}`
}

function cellsOf(row: Organization): string[] {
  return [
    row.id,
    statusOf(row),
    row.authenticationType ?? 'operator',
    row.humanEmail ?? '-',
    String(row.inboxCount),
    String(row.inboxLimit ?? '-'),
    moment(row.createdAt),
  ]
}

function factsOf(row: Organization, { keys, pods }: { keys: number; pods: number }): string {
  return facts([
    ['organization', row.id],
    ['status', statusOf(row)],
    ['kind', row.authenticationType ?? 'operator'],
    ['human', row.humanEmail ?? '-'],
    ['name of human', row.humanName ?? '-'],
    ['inboxes', String(row.inboxCount)],
    ['pods', String(pods)],
    ['keys', String(keys)],
    ...limitsOf(row),
    ['calendars', row.calendarAccess ? 'on' : 'off'],
    ['source', row.signUpSource ?? '-'],
    ['referrer', row.signUpReferrer ?? '-'],
    ['created', moment(row.createdAt)],
    ['changed', moment(row.updatedAt)],
  ])
}

function limitsOf(row: Organization): [name: string, value: string][] {
  return [
    ['inbox limit', String(row.inboxLimit ?? 'none')],
    ['domain limit', String(row.domainLimit ?? "the installation's")],
    ['key limit', String(row.credentialLimit ?? "the installation's")],
  ]
}
