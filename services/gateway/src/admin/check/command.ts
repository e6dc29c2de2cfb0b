import { type Command, Option } from '@commander-js/extra-typings'
import { RESTORABLE, type Restorable } from '@restante/contracts/internal'
import type { CheckOptions, InstallationCheck } from '../checks/request.ts'
import { JSON_OPTION, names, past } from '../commands/arguments.ts'
import { UsageError } from '../operator/usage-error.ts'
import type { Console } from '../output/console.ts'
import { runCheck } from '../output/findings.ts'

/** Stores whose loss of events is repaired from Kafka, for which the time of the backup is needed. */
const NEED_TIME: readonly Restorable[] = ['gateway', 'mail-ingest', 'mail-send', 'webhooks-dispatcher', 'domains-dns']

/** The command that compares the stores of an installation. It needs the gateway's whole environment. */
export function addCheckCommand(root: Command, console: Console): void {
  root
    .command('check')
    .description('find what is inconsistent between the stores of the installation; with --repair, repair it')
    .option('--repair', 'repair what can be repaired; without it nothing is changed')
    .addOption(
      new Option('--restored <store...>', 'what was put back from a backup, and so is behind the rest').choices(
        RESTORABLE,
      ),
    )
    .option('--since <moment>', 'the time of that backup; what Kafka has of the time since is compared too', past)
    .option('--delete-unknown', 'with --repair: delete data of inboxes that the gateway does not know')
    .option('--delete-orphans', 'with --repair: delete bytes that no row refers to')
    .option('--only <checks>', 'names such as copies or mail-send.copies, separated by commas', names)
    .option('--yes', 'delete without asking')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is left to repair, 1 something is, 2 usage error. See docs/backup.md.',
    )
    .action(async ({ only, yes, json, ...given }) => {
      const options = optionsOf(given)
      const checks = chosen(console.installation().checks(options), only)
      if (yes !== true) await confirm(console, options)
      let [found, left] = [0, 0]
      for (const check of checks) {
        const counted = await runCheck(console, check, json === true)
        found += counted.found
        left += counted.found - counted.repaired
      }
      if (json !== true) console.print(`\n${found} found, ${left} left.`)
      if (left > 0) throw new UsageError(`Inconsistencies are left: ${left}.`)
    })
}

interface Given {
  readonly repair?: true | undefined
  readonly restored?: Restorable[] | undefined
  readonly since?: Date | undefined
  readonly deleteUnknown?: true | undefined
  readonly deleteOrphans?: true | undefined
}

function optionsOf({ repair, restored = [], since, deleteUnknown, deleteOrphans }: Given): CheckOptions {
  const timed = restored.find((store) => NEED_TIME.includes(store))
  if (timed !== undefined && since === undefined)
    throw new UsageError(`Say with --since when the backup of ${timed} was made: what came later is read from Kafka.`)
  if (deleteUnknown && restored.includes('gateway'))
    throw new UsageError(
      'The gateway was restored, so inboxes that it does not know are not deleted: leave one option out.',
    )
  if ((deleteUnknown || deleteOrphans) && !repair) throw new UsageError('Nothing is deleted without --repair.')
  return {
    repair: repair === true,
    restored,
    since,
    deleteUnknown: deleteUnknown === true,
    deleteOrphans: deleteOrphans === true,
  }
}

function chosen(checks: readonly InstallationCheck[], only: readonly string[] | undefined): InstallationCheck[] {
  if (only === undefined) return [...checks]
  const unknown = only.find((name) => !checks.some((check) => isNamed(check, name)))
  if (unknown === undefined) return checks.filter((check) => only.some((name) => isNamed(check, name)))
  const known = [...new Set(checks.map(({ name }) => name))].join(', ')
  throw new UsageError(`There is no check ${unknown}. There are: ${known}.`)
}

function isNamed({ of, name }: InstallationCheck, given: string): boolean {
  return given === name || given === `${of}.${name}`
}

async function confirm(console: Console, { deleteUnknown, deleteOrphans }: CheckOptions): Promise<void> {
  if (!deleteUnknown && !deleteOrphans) return
  const what = [
    ...(deleteUnknown ? ['the data of inboxes that the gateway does not know'] : []),
    ...(deleteOrphans ? ['bytes that no row refers to'] : []),
  ].join(' and ')
  const answer = await console.ask(`This deletes ${what}, permanently. Type delete to continue:  `)
  if (answer === undefined) throw new UsageError('No terminal to ask on. Use --yes to delete permanently.')
  if (answer.trim() !== 'delete') throw new UsageError('Nothing was changed.')
}
