import type { Command } from '@commander-js/extra-typings'
import type { DeliveryHold, QueuedDelivery, QueueFilter, WaitingDestination } from '@restante/contracts/internal'
import { UsageError } from '../operator/usage-error.ts'
import type { Console } from '../output/console.ts'
import { asAnswered, onePage, printList } from '../output/list.ts'
import { answeredMoment, facts } from '../output/table.ts'
import { count, domainName, JSON_OPTION, organizationId, past } from './arguments.ts'

const DEFAULT_LIMIT = 50
const DESTINATION = ['--destination <domain>', 'only mail to this domain', domainName] as const
const ORGANIZATION = ['--organization <id>', 'only mail of this organization', organizationId] as const
const EVERYTHING = ['--everything', 'all mail, as after a backup was restored'] as const
const OLDER_THAN = [
  '--older-than <moment>',
  'only mail accepted before then: an age such as 90m, 12h, 7d, or a date and time',
  past,
] as const

/** Commands on mail that waits to be delivered. They need the gateway's MAIL_SEND_URL and PEER_KEY_MAIL_SEND. */
export function addQueueCommands(root: Command, console: Console): void {
  const commands = root.command('queue').description('mail on its way out: waiting deliveries, and holds on them')
  addReading(commands, console)
  addChanging(commands, console)
  addHolding(commands, console)
}

function addReading(commands: Command, console: Console): void {
  commands
    .command('list')
    .description('waiting deliveries by destination, most first')
    .option(...DESTINATION)
    .option(...ORGANIZATION)
    .option(...OLDER_THAN)
    .option('--limit <n>', 'maximum number of destinations, 1,000 at most', count, DEFAULT_LIMIT)
    .option(...JSON_OPTION)
    .action(async ({ limit, json: asJson, ...given }) => {
      const rows = await console.queue().list(filterOf(given), Math.min(Math.max(limit, 1), 1_000))
      const headings = ['DESTINATION', 'WAITING', 'RUNNING', 'HELD', 'OLDEST', 'NEXT ATTEMPT', 'LAST STATUS']
      const form = asJson ? { document: asAnswered } : { headings, cells: waitingCells, none: 'Nothing is waiting.' }
      await printList(console, onePage(rows), form)
    })

  commands
    .command('show')
    .description('a delivery, or every recipient of a message; never subject or content')
    .argument('<id>', 'id of the delivery, or Message-ID with its angle brackets')
    .option(...JSON_OPTION)
    .action(async (id, { json: asJson }) => {
      const deliveries = await console.queue().show(id)
      if (asJson) await printList(console, onePage(deliveries), { document: asAnswered })
      else console.print(deliveries.map(shown).join('\n\n'))
    })
}

function addChanging(commands: Command, console: Console): void {
  commands
    .command('retry')
    .description('make waiting deliveries due now; without options, all')
    .option(...DESTINATION)
    .option(...ORGANIZATION)
    .option(...OLDER_THAN)
    .action(async (given) => {
      const retried = await console.queue().retry(filterOf(given))
      console.print(`Attempts due now, one for each message and destination: ${retried}.`)
    })

  commands
    .command('drop')
    .description('bounce waiting deliveries, permanently: their senders learn of it; needs one of the options')
    .option(...DESTINATION)
    .option(...ORGANIZATION)
    .option(...OLDER_THAN)
    .option('--yes', 'do not ask')
    .action(async ({ yes, ...given }) => {
      const filter = filterOf(given)
      if (Object.keys(filter).length === 0) {
        throw new UsageError('Say what to drop: --destination, --organization or --older-than.')
      }
      if (!yes) await confirm(console, filter)
      console.print(`Bounced deliveries: ${await console.queue().drop(filter)}.`)
    })
}

function addHolding(commands: Command, console: Console): void {
  commands
    .command('hold')
    .description('attempt no mail to a destination, of an organization, of this one to that one, or none at all')
    .option(...DESTINATION)
    .option(...ORGANIZATION)
    .option(...EVERYTHING)
    .action(async (given) => {
      const created = await console.queue().hold(scopeOf(given))
      console.print(created ? 'Held, mail that is accepted later too. `queue release` ends it.' : 'Held already.')
    })

  commands
    .command('release')
    .description('end a hold, named by the same options; what it kept back is attempted now')
    .option(...DESTINATION)
    .option(...ORGANIZATION)
    .option(...EVERYTHING)
    .action(async (given) => {
      await console.queue().release(scopeOf(given))
      console.print('Released.')
    })

  commands
    .command('holds')
    .description('the holds, oldest first')
    .option(...JSON_OPTION)
    .action(async ({ json: asJson }) => {
      const headings = ['DESTINATION', 'ORGANIZATION', 'BY', 'SINCE']
      const form = asJson ? { document: asAnswered } : { headings, cells: holdCells, none: 'Nothing is held.' }
      await printList(console, onePage(await console.queue().holds()), form)
    })
}

interface Given {
  readonly destination?: string | undefined
  readonly organization?: string | undefined
  readonly olderThan?: Date | undefined
}

function filterOf({ destination, organization, olderThan }: Given): QueueFilter {
  return {
    ...(destination !== undefined && { destination }),
    ...(organization !== undefined && { organization_id: organization }),
    ...(olderThan !== undefined && { queued_before: olderThan.toISOString() }),
  }
}

function scopeOf({ everything, ...given }: Given & { readonly everything?: true | undefined }) {
  const scope = filterOf(given)
  const isNamed = Object.keys(scope).length > 0
  if (everything && isNamed) throw new UsageError('Everything is held: leave the other options out.')
  if (everything) return { everything: true as const }
  if (isNamed) return scope
  throw new UsageError('Say what: --destination, --organization, or both; or --everything.')
}

async function confirm(console: Console, filter: QueueFilter): Promise<void> {
  const rows = await console.queue().list(filter, 1_000)
  const waiting = rows.reduce((sum, row) => sum + row.waiting, 0)
  const what = `${waiting} deliveries to ${rows.length} destinations`
  const answer = await console.ask(`This bounces ${what}, permanently. Type drop to continue:  `)
  if (answer === undefined) throw new UsageError('No terminal to ask on. Use --yes to drop them permanently.')
  if (answer.trim() !== 'drop') throw new UsageError('Nothing was dropped.')
}

function waitingCells(row: WaitingDestination): string[] {
  const { destination, waiting, running, held, oldest_at, next_attempt_at, status = '-' } = row
  return [
    destination,
    `${waiting}`,
    `${running}`,
    `${held}`,
    answeredMoment(oldest_at),
    answeredMoment(next_attempt_at),
    status,
  ]
}

function holdCells({ everything, organization_id = '-', operator, created_at, ...hold }: DeliveryHold): string[] {
  const { destination = everything ? '(everything)' : '-' } = hold
  return [destination, organization_id, operator, answeredMoment(created_at)]
}

function shown(delivery: QueuedDelivery): string {
  return facts([
    ['delivery', delivery.delivery_id],
    ['message', delivery.message_id],
    ['organization', delivery.organization_id ?? '-'],
    ['inbox', delivery.inbox_uid ?? '-'],
    ['recipient', delivery.recipient],
    ['state', delivery.held ? `${delivery.state}, held` : delivery.state],
    ['attempts', `${delivery.attempts}`],
    ['last status', delivery.status ?? '-'],
    ['last answer', delivery.diagnostic ?? '-'],
    ['from server', delivery.remote ?? '-'],
    ['accepted', answeredMoment(delivery.queued_at)],
    ['changed', answeredMoment(delivery.updated_at)],
    ['next attempt', answeredMoment(delivery.next_attempt_at)],
  ])
}
