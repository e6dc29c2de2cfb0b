import { type Command, Option } from '@commander-js/extra-typings'
import type { ListedKey, MadeKey } from '../operator/keys.ts'
import type { Console } from '../output/console.ts'
import { json, keyDocument } from '../output/documents.ts'
import { printList } from '../output/list.ts'
import { moment } from '../output/table.ts'
import { moment as instant, JSON_OPTION, keyName, names } from './arguments.ts'

/** @returns the command `keys`, to which other commands on keys are added. */
export function addKeyCommands(root: Command, console: Console): Command {
  const commands = root.command('keys').description('API keys of an organization, its pods and inboxes')

  commands
    .command('create')
    .description('create a key; its secret is shown once')
    .argument('<organization>', 'organization of the key')
    .addOption(new Option('--pod <pod>', 'bind it to a pod, by id or client_id').conflicts('inbox'))
    .option('--inbox <inbox>', 'bind it to an inbox, by address or client_id')
    .option('--name <name>', 'name shown in lists', keyName)
    .option('--permissions <names>', 'grant only these, separated by commas; default: unrestricted', names)
    .option('--expires <moment>', 'expiry time, such as 2027-01-31T12:00:00Z', instant)
    .option(...JSON_OPTION)
    .action(async (organizationId, { expires, json: asJson, ...given }) => {
      const made = await console.operator().createKey({ ...given, organizationId, expiresAt: expires })
      if (asJson) console.print(json({ ...keyDocument(made.row), api_key: made.secret }))
      else console.print(`Key          ${made.row.id}\n${printedKey(made)}`)
    })

  commands
    .command('list')
    .description('keys of an organization, oldest first; never their secrets')
    .argument('<organization>', 'whose keys')
    .option(...JSON_OPTION)
    .action(async (organizationId, { json: asJson }) => {
      const headings = ['KEY', 'PREFIX', 'NAME', 'BOUND TO', 'PERMISSIONS', 'LAST USED', 'EXPIRES', 'CREATED']
      const form = asJson ? { document: keyDocument } : { headings, cells: cellsOf, none: 'No keys.' }
      await printList(console, console.operator().keys(organizationId), form)
    })

  commands
    .command('revoke')
    .description('revoke a key: within a second nothing authenticates with it, and its streams close')
    .argument('<key>', 'its id')
    .action(async (id) => {
      await console.operator().revokeKey(id)
      console.print(`Revoked ${id}.`)
    })
  return commands
}

export function printedKey({ secret }: MadeKey): string {
  return `API key      ${secret}\nThe key is shown only once; store it now.`
}

function cellsOf(row: ListedKey): string[] {
  return [
    row.id,
    row.prefix ?? (row.signInStatus === null ? 'public key' : `sign-in, ${row.signInStatus}`),
    row.name,
    row.inbox?.address ?? (row.podId === null ? 'organization' : `pod ${row.podId}`),
    Array.isArray(row.permissions) ? `${row.permissions.length} granted` : 'unrestricted',
    moment(row.usedAt),
    moment(row.expiresAt),
    moment(row.createdAt),
  ]
}
