import type { Command } from '@commander-js/extra-typings'
import type { MetricsRebuild } from '@restante/contracts/internal'
import { JSON_OPTION } from '../commands/arguments.ts'
import { UsageError } from '../operator/usage-error.ts'
import type { Console } from '../output/console.ts'
import { json } from '../output/documents.ts'
import { answeredMoment, facts } from '../output/table.ts'

/** Commands that make metrics equal to the events and to the counts of their owners again. */
export function addRebuild(commands: Command, console: Console): void {
  commands
    .command('rebuild')
    .description('count what Kafka still holds again, beside what is shown, and switch over; follows one that runs')
    .option('--status', 'only show the last one')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nWhat Kafka no longer holds stays as it is. Ctrl-C ends the following, not the rebuild.')
    .action(async ({ status, json: asJson }) => {
      if (status) {
        const rebuild = await console.metrics().lastRebuild()
        return console.print(asJson ? json(rebuild) : shown(rebuild))
      }
      let last: MetricsRebuild | undefined
      let said = ''
      for await (const rebuild of console.metrics().rebuild()) {
        last = rebuild
        if (rebuild.state !== 'reading' || progress(rebuild) === said) continue
        said = progress(rebuild)
        console.say(said)
      }
      if (last === undefined || last.state !== 'switched')
        throw new UsageError(`The rebuild ${last?.state ?? 'is gone'}: ${last?.reason ?? 'another one was started'}.`)
      console.print(
        asJson ? json(last) : `Switched over: everything since ${answeredMoment(last.from)} is counted again.`,
      )
    })

  commands
    .command('compare')
    .description('compare running totals with the counts of their owners now, as every night, and correct them')
    .action(async () => {
      const started = await console.metrics().compare()
      console.print(
        `${started ? 'Started' : 'Running already'}: it takes some minutes. The log of metrics names what it corrects.`,
      )
    })
}

function progress({ read, total }: MetricsRebuild): string {
  // What is to be read is known when the offsets of every partition are.
  if (total === 0) return 'looking for the records to read ...'
  return `${read} of ${total} records read (${Math.floor((read / total) * 100)} %) ...`
}

function shown(rebuild: MetricsRebuild): string {
  return facts([
    ['state', rebuild.state],
    ['counted again from', answeredMoment(rebuild.from)],
    ['records read', rebuild.total === 0 ? 'none' : `${rebuild.read} of ${rebuild.total}`],
    ['started', `${answeredMoment(rebuild.started_at)} by ${rebuild.operator}`],
    ['ended', answeredMoment(rebuild.ended_at)],
    ...(rebuild.reason === undefined ? [] : [['reason', rebuild.reason] as const]),
  ])
}
