import type { Command } from '@commander-js/extra-typings'
import type { RegisteredApp } from '@restante/contracts/internal'
import { count, JSON_OPTION, limit, limitOrNull, names, organizationId } from '../commands/arguments.ts'
import type { ChangedApp, SignUpLimit } from '../operator/apps.ts'
import { UsageError } from '../operator/usage-error.ts'
import type { Console } from '../output/console.ts'
import { json } from '../output/documents.ts'
import { asAnswered, printList } from '../output/list.ts'
import { answeredMoment, facts } from '../output/table.ts'
import { changedSettings, newSettings } from './settings.ts'

const DEFAULT_LIMIT = 50
const APP = ['<app>', 'its id or slug'] as const

/** Commands on apps that accept sign-ins. They need the gateway's APPS_SIGNIN_URL and PEER_KEY_APPS_SIGNIN. */
export function addAppCommands(root: Command, console: Console): void {
  const commands = root.command('apps').description('apps that inboxes sign in to')
  addCreate(commands, console)
  addUpdate(commands, console)
  addReading(commands, console)
  addSecret(commands, console)
  addRemove(commands, console)
  addLimits(commands, console)
}

/** A command with an option for each setting. An option replaces what the file says. */
function withSettings(command: Command) {
  return command
    .option('--file <file>', 'JSON object of settings, by the names that --json shows')
    .option('--name <name>', 'name shown to people')
    .option('--description <text>', 'what it is; none: no text')
    .option('--logo-url <url>', 'https; none: no logo')
    .option('--terms-url <url>', 'https; none: no link')
    .option('--privacy-url <url>', 'https; none: no link')
    .option('--categories <names>', 'at most three, separated by commas', names)
    .option('--slug <words>', 'name in the catalog, such as acme-search; it cannot be changed')
    .option('--listed', 'show it in the catalog')
    .option('--no-listed', 'do not show it in the catalog')
    .option('--native', 'let it redirect to http on loopback, on any port')
    .option('--no-native', 'https only')
    .option('--redirect-uris <urls>', 'where codes go, separated by commas', names)
    .option('--initiate-login-uri <url>', 'https, where it begins a sign-in; none: agents cannot connect it')
    .option('--scopes <names>', 'scopes that it may ask for, separated by commas', names)
    .option('--auth-method <name>', 'client_secret_basic, client_secret_post or none')
    .option('--sign-up-limit <n>', 'most accounts of one organization; 0: no new ones; none: no limit', limit)
    .option('--disclosure <text>', 'text accepted before the first sign-in, Markdown; none: no text')
    .option('--disclosure-version <n>', 'a higher one is accepted anew', count)
    .option(...JSON_OPTION)
}

function addCreate(commands: Command, console: Console): void {
  const command = commands.command('create').description('register an app; its client secret is shown once')
  withSettings(command).action(async ({ json: asJson, ...given }) => {
    printChanged(console, await console.apps().create(await newSettings(given)), asJson)
  })
}

function addUpdate(commands: Command, console: Console): void {
  const command = commands.command('update').description('change settings; those that are not given stay')
  withSettings(command)
    .argument(...APP)
    .action(async (app, { json: asJson, ...given }) => {
      const settings = await changedSettings(given)
      printChanged(console, await console.apps().update(app, settings), asJson)
    })
}

function addReading(commands: Command, console: Console): void {
  commands
    .command('list')
    .description('registered apps, by name')
    .option('--limit <n>', 'maximum number of apps', count, DEFAULT_LIMIT)
    .option(...JSON_OPTION)
    .action(async ({ limit: most, json: asJson }) => {
      const headings = ['APP', 'NAME', 'SLUG', 'LISTED', 'SCOPES', 'ACCOUNTS', 'CREATED']
      const form = asJson ? { document: asAnswered } : { headings, cells: cellsOf, none: 'No apps.' }
      await printList(console, console.apps().list(most), form)
    })

  commands
    .command('show')
    .description('one app with its settings; never its secrets')
    .argument(...APP)
    .option(...JSON_OPTION)
    .action(async (named, { json: asJson }) => {
      printChanged(console, { app: await console.apps().show(named), secret: undefined }, asJson)
    })
}

function addSecret(commands: Command, console: Console): void {
  commands
    .command('secret')
    .description('give it another client secret, shown once; of two valid ones the older goes')
    .argument(...APP)
    .option('--remove <secret>', 'end this secret instead, by the id that `apps show` prints')
    .option(...JSON_OPTION)
    .action(async (app, { remove, json: asJson }) => {
      const changed = await (remove === undefined
        ? console.apps().addSecret(app)
        : console.apps().removeSecret(app, secretId(remove)))
      printChanged(console, changed, asJson)
    })
}

function addRemove(commands: Command, console: Console): void {
  commands
    .command('remove')
    .description('remove it: nothing signs in to it any more, its accounts stay readable')
    .argument(...APP)
    .option('--yes', 'do not ask')
    .action(async (named, { yes }) => {
      if (!yes) await confirm(console, named)
      await console.apps().remove(named)
      console.print(`Removed ${named}.`)
    })
}

function addLimits(commands: Command, console: Console): void {
  commands
    .command('limits')
    .description('show how many accounts single organizations may have at it, or set that of one')
    .argument(...APP)
    .option('--organization <id>', 'the organization whose limit is set', organizationId)
    .option('--limit <n>', "its most accounts; none: the app's --sign-up-limit", limit)
    .option(...JSON_OPTION)
    .action(async (app, { organization, limit: given, json: asJson }) => {
      const most = limitOrNull(given)
      if ((organization === undefined) !== (most === undefined)) {
        throw new UsageError('Give --organization and --limit together, or neither.')
      }
      if (organization !== undefined && most !== undefined) {
        await console.apps().setLimit(app, organization, most, console.operator())
        console.say(`Set the limit of ${organization}. Existing accounts stay, even beyond a limit.`)
      }
      const headings = ['ORGANIZATION', 'LIMIT', 'USED']
      const form = asJson ? { document: asAnswered } : { headings, cells: limitCells, none: 'No limits of their own.' }
      await printList(console, console.apps().limits(app), form)
    })
}

function secretId(text: string): string {
  return organizationId(text)
}

/** @throws UsageError unless the name is typed again. */
async function confirm(console: Console, named: string): Promise<void> {
  const { name, accounts } = await console.apps().show(named)
  const question = `This removes ${name} with ${accounts} accounts, permanently. Type its name to continue:  `
  const answer = await console.ask(question)
  if (answer === undefined) throw new UsageError('No terminal to ask on. Use --yes to remove it permanently.')
  if (answer.trim() !== name) throw new UsageError('The name does not match. Nothing was removed.')
}

function printChanged(console: Console, { app, secret }: ChangedApp, asJson: true | undefined): void {
  const once = secret === undefined ? '' : `\nclient secret     ${secret}\nThe secret is shown only once; store it now.`
  console.print(asJson ? json({ ...app, client_secret: secret }) : `${factsOf(app)}${once}`)
}

function cellsOf(app: RegisteredApp): string[] {
  const { app_id, name, slug, listed, scopes, accounts, created_at } = app
  return [
    ...[app_id, name, slug ?? '-', listed ? 'yes' : 'no', scopes.join(' ')],
    ...[String(accounts), answeredMoment(created_at)],
  ]
}

function limitCells({ organization_id, limit: most, used }: SignUpLimit): string[] {
  return [organization_id, String(most), String(used)]
}

function factsOf(app: RegisteredApp): string {
  const secrets = app.secrets.map(({ secret_id, created_at }) => `${secret_id} of ${answeredMoment(created_at)}`)
  return facts([
    ['app', app.app_id],
    ['client id', app.client_id],
    ['name', app.name],
    ['slug', app.slug ?? '-'],
    ['in the catalog', app.listed ? 'yes' : 'no'],
    ['categories', app.categories.join(', ') || '-'],
    ['redirect URIs', app.redirect_uris.join(', ') || '-'],
    ['native', app.native ? 'yes' : 'no'],
    ['begins sign-ins', app.initiate_login_uri ?? '-'],
    ['scopes', app.scopes.join(' ')],
    ['authenticates by', app.token_endpoint_auth_method],
    ['secrets', secrets.join(', ') || '-'],
    ['sign-up limit', String(app.owner_signup_limit ?? 'none')],
    ['disclosure', app.disclosure === null ? '-' : `version ${app.disclosure_version}`],
    ['accounts', String(app.accounts)],
    ['created', answeredMoment(app.created_at)],
    ['changed', answeredMoment(app.updated_at)],
  ])
}
