import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { LIMITS } from '@restante/contracts/vocabulary'
import { parseDuration } from '@restante/service/configuration'
import { JSON_OPTION } from '../commands/arguments.ts'
import type { Console } from '../output/console.ts'
import { json } from '../output/documents.ts'
import { periodsOf } from './periods.ts'
import { COLUMNS, picture } from './picture.ts'
import { addRebuild } from './rebuild.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const { reach: REACH } = LIMITS.metrics

/** Commands on metrics. They need the gateway's METRICS_URL and PEER_KEY_METRICS. */
export function addMetricsCommands(root: Command, console: Console): void {
  const commands = root.command('metrics').description('what happened in organizations, what is stored, what bounced')
  addShow(commands, console)
  addRebuild(commands, console)
}

function addShow(commands: Command, console: Console): void {
  commands
    .command('show')
    .description('draw events, usage and rates of an organization')
    .argument('<organization>', 'its id')
    .option('--last <time>', 'how far back: 90m, 12h, 7d, at most 90d', lastTime, 7 * DAY_MS)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nA dot is zero, a blank nothing. Usage is drawn between its lowest and its highest value, the rest from zero.',
    )
    .action(async (id, { last, json: asJson }) => {
      const { row } = await console.operator().organization(id)
      const periods = periodsOf(last, Date.now(), COLUMNS)
      const range = { start: new Date(periods.from).toISOString(), end: new Date(periods.to).toISOString() }
      const found = await console
        .metrics()
        .showOrganization({ organization_id: row.id, ...range, points: periods.points })
      const seconds = periods.period / 1_000
      console.print(
        asJson ? json({ organization_id: row.id, ...range, period: seconds, ...found }) : picture(found, periods),
      )
    })
}

/** A time from a minute to what is kept in detail. */
function lastTime(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= MINUTE_MS && ms <= REACH) return ms
  throw new InvalidArgumentError(`It must be from 1m to ${REACH / DAY_MS}d, such as 90m, 12h or 7d.`)
}
