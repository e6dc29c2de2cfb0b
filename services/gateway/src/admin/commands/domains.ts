import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import type { DmarcCount, OperatorDomain, ShownDomain } from '@restante/contracts/internal'
import { DOMAIN_STATUSES, type DomainStatus } from '@restante/contracts/vocabulary'
import type { Console } from '../output/console.ts'
import { asAnswered, onePage, printList } from '../output/list.ts'
import { answeredMoment, facts, Table } from '../output/table.ts'
import { count, domainName, JSON_OPTION, organizationId, past } from './arguments.ts'

const DEFAULT_LIMIT = 50
const DEFAULT_DAYS = 7 * 86_400_000
const DOMAIN = ['<domain>', 'name of the domain', domainName] as const
const OF_ORGANIZATION = ['--organization <id>', 'the registration of this organization', organizationId] as const

/**
 * Commands on custom domains. They need the gateway's DOMAINS_DNS_URL and PEER_KEY_DOMAINS_DNS, `dmarc` also its
 * MAIL_INGEST_URL and PEER_KEY_MAIL_INGEST.
 */
export function addDomainCommands(root: Command, console: Console): void {
  const commands = root.command('domains').description('custom domains of all organizations')
  addReading(commands, console)
  addChanging(commands, console)
  addDmarc(commands, console)
}

function addReading(commands: Command, console: Console): void {
  commands
    .command('list')
    .description('registered domains, by name')
    .option('--organization <id>', 'only domains of this organization', organizationId)
    .option('--status <status>', `only domains in this status: ${DOMAIN_STATUSES.join(', ')}`, status)
    .option('--barred', 'only domains that are barred from sending')
    .option('--limit <n>', 'maximum number of domains', count, DEFAULT_LIMIT)
    .option(...JSON_OPTION)
    .action(async ({ organization, status: only, barred, limit, json: asJson }) => {
      const filter = {
        ...(organization !== undefined && { organization_id: organization }),
        ...(only !== undefined && { status: only }),
        ...(barred && { barred }),
      }
      const headings = ['DOMAIN', 'ORGANIZATION', 'STATUS', 'REASON', 'SENDS', 'CHECKED', 'VERIFIED']
      const form = asJson ? { document: asAnswered } : { headings, cells: cellsOf, none: 'No domains.' }
      await printList(console, console.domains().list(filter, limit), form)
    })

  commands
    .command('show')
    .description('every registration of a name, with its DNS records and its next check')
    .argument(...DOMAIN)
    .option(...OF_ORGANIZATION)
    .option(...JSON_OPTION)
    .action(async (domain, { organization, json: asJson }) => {
      const domains = await console.domains().show({ domain, organization })
      if (asJson) await printList(console, onePage(domains), { document: asAnswered })
      else console.print(domains.map(shown).join('\n\n'))
    })
}

function addChanging(commands: Command, console: Console): void {
  for (const [name, barred] of [
    ['bar', true],
    ['unbar', false],
  ] as const) {
    commands
      .command(name)
      .description(barred ? 'bar a domain from sending; its inboxes still receive' : 'let a barred domain send again')
      .argument(...DOMAIN)
      .option(...OF_ORGANIZATION)
      .action(async (domain, { organization }) => {
        const changed = await console.domains().setBarred({ domain, organization }, barred, console.operator())
        console.print(
          `${changed ? 'Done' : 'Nothing to change'}: ${domain} is ${barred ? '' : 'not '}barred from sending.`,
        )
      })
  }

  commands
    .command('check')
    .description('check the DNS records of a domain now')
    .argument(...DOMAIN)
    .option(...OF_ORGANIZATION)
    .action(async (domain, { organization }) => {
      await console.domains().check({ domain, organization })
      console.print(`Due now: the check of ${domain}. \`domains show\` shows what it finds.`)
    })
}

function addDmarc(commands: Command, console: Console): void {
  commands
    .command('dmarc')
    .description('what receivers report about mail from a domain (DMARC), newest day first')
    .argument(...DOMAIN)
    .option(...OF_ORGANIZATION)
    .option('--since <moment>', 'only mail since then: an age such as 7d, or a date and time; kept for 90 days', past)
    .option('--limit <n>', 'maximum number of lines, 1,000 at most', count, DEFAULT_LIMIT)
    .option(...JSON_OPTION)
    .action(async (domain, { organization, since, limit, json: asJson }) => {
      const from = since ?? new Date(Date.now() - DEFAULT_DAYS)
      const { counts, more } = await console.domains().dmarc({ domain, organization }, from, Math.max(1, limit))
      const headings = ['DAY', 'MESSAGES', 'SOURCE', 'DISPOSITION', 'DKIM', 'SPF', 'REPORTED BY', 'SENDER OF REPORT']
      const form = asJson ? { document: asAnswered } : { headings, cells: countCells, none: 'No reports.' }
      await printList(console, onePage(counts), form)
      if (more) console.say('There is more: raise --limit.')
    })
}

function status(text: string): DomainStatus {
  const known = DOMAIN_STATUSES.find((name) => name === text.toUpperCase())
  if (known) return known
  throw new InvalidArgumentError(`It must be one of ${DOMAIN_STATUSES.join(', ')}.`)
}

function sends({ sending_ready, barred_at }: OperatorDomain): string {
  return barred_at === undefined ? (sending_ready ? 'yes' : 'no') : 'barred'
}

function cellsOf(row: OperatorDomain): string[] {
  const { domain, organization_id, status: state, reason = '-', checked_at, verified_at } = row
  return [domain, organization_id, state, reason, sends(row), answeredMoment(checked_at), answeredMoment(verified_at)]
}

function countCells(row: DmarcCount): string[] {
  const { day, messages, source_ip, disposition, dkim, spf, reporter, authenticated } = row
  const sender = authenticated ? 'authenticated' : 'not authenticated'
  return [day, String(messages), source_ip, disposition, dkim, spf, reporter, sender]
}

function shown(row: ShownDomain): string {
  const table = new Table(['TYPE', 'NAME', 'STATUS', 'REASON', 'CHECKED', 'FOUND INSTEAD'])
  const records = row.records.map((record) => [
    record.type,
    record.name,
    record.status,
    record.reason ?? '-',
    answeredMoment(record.checked_at),
    record.found?.join(' | ') ?? '-',
  ])
  const about = facts([
    ['domain', row.domain],
    ['id', row.domain_uid],
    ['organization', row.organization_id],
    ['pod', row.pod_id ?? 'all'],
    ['status', row.status],
    ['reason', row.reason ?? '-'],
    ['sends', sends(row)],
    ['barred', answeredMoment(row.barred_at)],
    ['verified', answeredMoment(row.verified_at)],
    ['lost to another organization', answeredMoment(row.lost_at)],
    ['checks', String(row.checks)],
    ['last check', answeredMoment(row.checked_at)],
    ['next check', answeredMoment(row.next_check_at)],
    ['created', answeredMoment(row.created_at)],
  ])
  return `${about}\n\n${table.page(records)}`
}
