import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { DELIVERY_STATES, type WebhookDelivery } from '@restante/contracts/resources'
import { UsageError } from '../operator/usage-error.ts'
import type { ReplayTotal } from '../operator/webhook-log.ts'
import type { Console } from '../output/console.ts'
import { asAnswered, printList } from '../output/list.ts'
import { answeredMoment } from '../output/table.ts'
import { count, JSON_OPTION, past } from './arguments.ts'

const DEFAULT_LIMIT = 50
const TIME = 'a date and time, or an age such as 90m, 12h, 7d'

/** Commands on webhooks. They need the gateway's WEBHOOKS_DISPATCHER_URL and PEER_KEY_WEBHOOKS_DISPATCHER. */
export function addWebhookCommands(root: Command, console: Console): void {
  const commands = root.command('webhooks').description('the delivery log of webhooks, and sending events again')
  addLog(commands, console)
  addReplays(commands, console)
}

function addLog(commands: Command, console: Console): void {
  commands
    .command('log')
    .description('deliveries of a webhook in the last 30 days, newest first; never content')
    .argument('<webhook_id>', 'id of the webhook: ep_...')
    .option('--last <age>', `only deliveries since then: ${TIME}`, past)
    .option('--state <state>', `only deliveries in this state: ${DELIVERY_STATES.join(', ')}`, state)
    .option('--limit <n>', 'maximum number of deliveries', count, DEFAULT_LIMIT)
    .option(...JSON_OPTION)
    .action(async (webhookId, { last, state: only, limit, json: asJson }) => {
      const headings = ['CREATED', 'DELIVERY', 'EVENT', 'STATE', 'ATTEMPTS', 'LAST ATTEMPT', 'RESULT', 'NEXT ATTEMPT']
      const form = asJson ? { document: asAnswered } : { headings, cells: cellsOf, none: 'No deliveries.' }
      await printList(console, console.webhooks().list(webhookId, { since: last, state: only }, limit), form)
    })
}

function addReplays(commands: Command, console: Console): void {
  commands
    .command('replay')
    .description('send a delivery again under its id, or now if it is retried anyway')
    .argument('<webhook_id>', 'id of the webhook')
    .argument('<delivery_id>', 'id of the delivery: msg_...')
    .action(async (webhookId, deliveryId) => {
      const { event_type } = await console.webhooks().replay(webhookId, deliveryId)
      console.print(`Due now: ${deliveryId} (${event_type}). \`webhooks log\` shows what becomes of it.`)
    })

  commands
    .command('replay-range')
    .description('send every event of a time range again that the webhook got, or should have got')
    .argument('<webhook_id>', 'id of the webhook')
    .requiredOption('--from <moment>', `first events: ${TIME}; Kafka keeps them for 7 days`, past)
    .option('--to <moment>', `only events before then: ${TIME}; default: now`, past)
    .option('--dry-run', 'only count them')
    .action(async (webhookId, { from, to = new Date(), dryRun = false }) => {
      if (from >= to) throw new UsageError('--from must be before --to.')
      let total: ReplayTotal = { scanned: 0, matched: 0, queued: 0, pending: 0 }
      for await (const soFar of console.webhooks().replayRange(webhookId, { from, to, isDryRun: dryRun })) {
        total = soFar
        console.say(`${total.scanned} events read, ${total.matched} of the webhook ...`)
      }
      const { matched, queued, pending } = total
      const done = dryRun ? 'Nothing was sent, because of --dry-run.' : `Sent again: ${queued}.`
      console.print(`Events of the webhook: ${matched}, of which ${pending} are still pending. ${done}`)
    })
}

function state(text: string): WebhookDelivery['state'] {
  const known = DELIVERY_STATES.find((name) => name === text)
  if (known) return known
  throw new InvalidArgumentError(`It must be one of ${DELIVERY_STATES.join(', ')}.`)
}

function cellsOf({ attempts, ...delivery }: WebhookDelivery): string[] {
  const last = attempts.at(-1)
  return [
    answeredMoment(delivery.created_at),
    delivery.delivery_id,
    delivery.event_type,
    delivery.state,
    `${attempts.length}`,
    answeredMoment(last?.attempted_at),
    last?.http_status === undefined ? (last?.error ?? '-') : `${last.http_status}`,
    answeredMoment(delivery.next_attempt_at),
  ]
}
