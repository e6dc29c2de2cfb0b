import type { Command } from '@commander-js/extra-typings'
import { type OwnSendLimits, type SendLimit, writtenSendLimits } from '@restante/contracts/access'
import { TIERS } from '@restante/contracts/vocabulary'
import type { SendLimitsChange } from '../operator/operator.ts'
import { UsageError } from '../operator/usage-error.ts'
import type { Console } from '../output/console.ts'
import { json } from '../output/documents.ts'
import { facts } from '../output/table.ts'
import { JSON_OPTION, sendLimits } from './arguments.ts'

const ID = ['<organization>', 'its id'] as const
const WRITTEN = 'such as 100/h,1000/d,10000/30d; none: no limit; default: as the installation'
const FOR_ALL = ['--organization <limits>', `recipients of all its mail, ${WRITTEN}`, sendLimits] as const
const FOR_POD = ['--pod <limits>', 'the same for each of its pods', sendLimits] as const
const FOR_INBOX = ['--inbox <limits>', 'the same for each of its inboxes', sendLimits] as const

/** Commands on what one organization may send, where that differs from the limits of the installation. */
export function addLimitCommands(root: Command, console: Console): void {
  const commands = root.command('limits').description('what an organization may send, in place of SEND_LIMIT_*')

  commands
    .command('show')
    .description('the limits of its sends')
    .argument(...ID)
    .option(...JSON_OPTION)
    .action(async (id, { json: asJson }) => {
      console.print(printed(await console.operator().sendLimits(id), asJson))
    })

  commands
    .command('set')
    .description('set the given limits; the others stay')
    .argument(...ID)
    .option(...FOR_ALL)
    .option(...FOR_POD)
    .option(...FOR_INBOX)
    .option(...JSON_OPTION)
    .action(async (id, { json: asJson, ...given }) => {
      if (Object.keys(given).length === 0) throw new UsageError('Say what: --organization, --pod or --inbox.')
      await change(console, id, {
        organization: limitsOrNull(given.organization),
        pod: limitsOrNull(given.pod),
        inbox: limitsOrNull(given.inbox),
      })
      console.print(printed(await console.operator().sendLimits(id), asJson))
    })

  commands
    .command('clear')
    .description('give it the limits of the installation again')
    .argument(...ID)
    .action((id) => change(console, id, { organization: null, pod: null, inbox: null }))
}

async function change(console: Console, id: string, limits: SendLimitsChange): Promise<void> {
  const changed = await console.operator().setSendLimits(id, limits)
  console.say(changed ? 'Changed. What was sent in a window that goes on still counts.' : 'Unchanged.')
}

function limitsOrNull(given: SendLimit[] | 'default' | undefined): SendLimit[] | null | undefined {
  return given === 'default' ? null : given
}

function printed(own: OwnSendLimits, asJson: true | undefined): string {
  const written = writtenSendLimits(own)
  if (asJson) return json({ ...written })
  return facts(
    TIERS.map((tier) => [tier === 'organization' ? tier : `each ${tier}`, written[tier] ?? "the installation's"]),
  )
}
