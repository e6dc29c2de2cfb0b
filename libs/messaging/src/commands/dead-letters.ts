/**
 * Lists and replays events that consumers could not handle: `npm run dead-letters -- list | show | replay`, with the
 * variables that the services have (KAFKA_BROKERS, TOPIC_PREFIX, ...).
 */

import { parseArgs } from 'node:util'
import { messageOf } from '@restante/service/errors'
import {
  type DeadLetter,
  deadLetterGroups,
  knownGroups,
  readDeadLetters,
  removeDeadLetters,
  replayDeadLetters,
} from '../dead-letters/reader.ts'
import type { Kafka } from '../kafka/kafka.ts'
import { fail, kafkaFromEnvironment, print, table } from './command.ts'

const USAGE = `usage: npm run dead-letters -- <command>
  list                                      groups that have dead letters
  list   --group <group>                    the dead letters of one group
  show   --group <group> --offset <n>       one of them: why it failed, its headers; --payload prints its content too
  replay --group <group> --offset <n>       publishes one of them again, for this group alone
  replay --group <group> --all              publishes all of them again, and removes them here
         --dry-run                          only says what would be published`

const COMMANDS = new Set(['list', 'show', 'replay'])

const options = {
  group: { type: 'string' },
  offset: { type: 'string' },
  all: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  payload: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

async function main(): Promise<void> {
  const { values, positionals } = wordsGiven()
  const [command, ...more] = positionals
  if (values.help || command === 'help') return print(USAGE)
  if (command === undefined || !COMMANDS.has(command) || more.length > 0) fail(USAGE)
  const { group, offset, all } = values
  const chooses = command !== 'list'
  if (chooses && (group === undefined || (offset === undefined && !(all && command === 'replay')))) fail(USAGE)
  const kafka = kafkaFromEnvironment('dead-letters-cli')
  if (group === undefined) return listGroups(kafka)
  await requireGroup(kafka, group)
  const letters = await readDeadLetters(kafka, group)
  if (command === 'list') return list(group, letters)
  if (command === 'show') return show(find(letters, offset), values.payload)
  const chosen = all ? letters : [find(letters, offset)]
  return replay(kafka, group, chosen, { all, dryRun: values['dry-run'] })
}

function wordsGiven() {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    return fail(`${messageOf(error)}\n\n${USAGE}`)
  }
}

async function requireGroup(kafka: Kafka, group: string): Promise<void> {
  const known = await knownGroups(kafka)
  if (known.includes(group)) return
  if (known.length === 0) fail('No consumer group exists yet: run `npm run topics -- ensure`, or start the services.')
  fail(`No consumer group ${group}. Existing groups:\n${known.map((name) => `  ${name}`).join('\n')}`)
}

async function listGroups(kafka: Kafka): Promise<void> {
  const groups = await deadLetterGroups(kafka)
  if (groups.length === 0) return print('There are no dead letters.')
  print(
    table(
      ['group', 'dead letters'],
      groups.map(({ group, letters }) => [group, letters]),
    ),
  )
}

function list(group: string, letters: readonly DeadLetter[]): void {
  if (letters.length === 0) {
    print(`${group} has no dead letters.`)
    return
  }
  const rows = letters.map((letter) => [
    letter.offset,
    letter.failedAt,
    letter.headers['ce_type'] ?? '?',
    letter.headers['ce_id'] ?? '?',
    letter.reason,
    letter.error.slice(0, 80),
  ])
  print(table(['offset', 'failed at', 'type', 'event id', 'reason', 'error'], rows))
}

function show(letter: DeadLetter, payload: boolean): void {
  const { topic, partition, offset } = letter.origin
  print(`${letter.reason}: ${letter.error}`)
  print(`failed at  ${letter.failedAt}\nfrom       ${topic}, partition ${partition}, offset ${offset}`)
  print(`key        ${letter.key?.toString() ?? '(none)'}`)
  for (const [name, value] of Object.entries(letter.headers)) print(`${name.padEnd(18)} ${value}`)
  print(
    payload
      ? `\n${letter.value?.toString() ?? '(no value)'}`
      : `\n${letter.value?.length ?? 0} bytes; --payload prints them`,
  )
}

async function replay(
  kafka: Kafka,
  group: string,
  letters: readonly DeadLetter[],
  { all, dryRun }: { all: boolean; dryRun: boolean },
): Promise<void> {
  for (const letter of letters) {
    print(
      `${letter.offset}  ${letter.headers['ce_type'] ?? '?'}  ${letter.headers['ce_id'] ?? '?'} -> ${letter.origin.topic}`,
    )
  }
  if (dryRun) return print(`${letters.length} would be published again; nothing was changed.`)
  await replayDeadLetters(kafka, group, letters)
  const last = letters.at(-1)
  // Removed only after publishing: a crash in between publishes them twice, which the marks make harmless.
  if (all && last) await removeDeadLetters(kafka, group, last.offset)
  print(`${letters.length} published again. Events that fail again return as new dead letters.`)
}

function find(letters: readonly DeadLetter[], offset: string | undefined): DeadLetter {
  const letter = letters.find((it) => String(it.offset) === offset)
  return letter ?? fail(`There is no dead letter at offset ${offset}.`)
}

await main().catch((error: unknown) => fail(messageOf(error)))
