import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { moment as instant, JSON_OPTION, keyName, names, organizationId } from '../commands/arguments.ts'
import { printedKey } from '../commands/keys.ts'
import type { Console } from '../output/console.ts'
import { json, keyDocument } from '../output/documents.ts'
import { mcpUrl, printedClients } from './clients.ts'
import { DEFAULT_RIGHTS, FURTHER_RIGHTS, type Further, isFurther, permissionsOf } from './rights.ts'

const ALLOW = [
  '--allow <what>',
  `what it may do beyond reading: ${FURTHER_RIGHTS.join(', ')}, separated by commas, or none`,
] as const

/** @param keys the command `keys`. */
export function addModelKeyCommand(keys: Command, console: Console): void {
  keys
    .command('create-for-model')
    .description('create a key for a language model in one inbox, and print what to paste into its program')
    .argument('<inbox>', 'address of the inbox')
    .option(...ALLOW, further, [...DEFAULT_RIGHTS])
    .option('--name <name>', 'name shown in lists', keyName, 'Model')
    .option('--expires <moment>', 'expiry time, such as 2027-01-31T12:00:00Z', instant)
    .option('--organization <organization>', 'whose inbox, where several have one of this address', organizationId)
    .option(...JSON_OPTION)
    .action(async (inbox, { allow, name, expires, organization, json: asJson }) => {
      const publicUrl = console.publicUrl()
      const operator = console.operator()
      const owner = organization ?? (await operator.ownerOfInbox(inbox))
      const permissions = permissionsOf(allow)
      const made = await operator.createKey({ organizationId: owner, inbox, name, permissions, expiresAt: expires })
      if (asJson) {
        const document = { ...keyDocument(made.row), api_key: made.secret, mcp_url: mcpUrl(publicUrl) }
        return console.print(json(document))
      }
      const lines = [`Key          ${made.row.id}`, `May          ${['read', ...allow].join(', ')}`, printedKey(made)]
      console.print([...lines, printedClients(publicUrl, made.secret)].join('\n'))
    })
}

/** Parses what a key may do beyond reading. */
function further(text: string): Further[] {
  if (text === 'none') return []
  return names(text).map((name) => {
    if (isFurther(name)) return name
    throw new InvalidArgumentError(`Allowed choices are ${FURTHER_RIGHTS.join(', ')} and none.`)
  })
}
