import { Command, CommanderError } from '@commander-js/extra-typings'
import { ConfigurationError } from '@restante/service/configuration'
import { ApiError, isInfrastructureError, messageOf, UpstreamError } from '@restante/service/errors'
import { UpstreamRejectedError } from '@restante/service/http'
import { addAppCommands } from './apps/commands.ts'
import { addCheckCommand } from './check/command.ts'
import { addAuditCommand } from './commands/audit.ts'
import { addDomainCommands } from './commands/domains.ts'
import { addKeyCommands } from './commands/keys.ts'
import { addLimitCommands } from './commands/limits.ts'
import { addOrganizationCommands } from './commands/organizations.ts'
import { addQueueCommands } from './commands/queue.ts'
import { addSecretsCommand } from './commands/secrets.ts'
import { addWebhookCommands } from './commands/webhooks.ts'
import { addMetricsCommands } from './metrics/commands.ts'
import { addModelKeyCommand } from './model-keys/command.ts'
import { UsageError } from './operator/usage-error.ts'
import type { Console } from './output/console.ts'

/** Exit codes of a command, for scripts. */
export const EXIT = {
  done: 0,
  /** The request cannot be fulfilled, or the installation is unreachable; nothing was changed. */
  refused: 1,
  /** Usage error. */
  misused: 2,
} as const

/** Runs one command. @returns the exit code. @throws unforeseen errors. */
export async function execute(console: Console, words: readonly string[]): Promise<number> {
  try {
    await program(console).parseAsync([...words], { from: 'user' })
    return EXIT.done
  } catch (error) {
    // Commander has printed the error, or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misused
    if (error instanceof UsageError || error instanceof ConfigurationError || error instanceof ApiError) {
      console.say(error.message)
      return EXIT.refused
    }
    if (error instanceof UpstreamError || error instanceof UpstreamRejectedError) {
      console.say(`The service cannot be asked: ${lastLine(error)}`)
      return EXIT.refused
    }
    if (isInfrastructureError(error)) {
      console.say(`The database cannot be reached: ${lastLine(error)}`)
      return EXIT.refused
    }
    if (isUnusableDatabase(error)) {
      console.say(`The database is not that of a gateway, or lacks its migrations: ${lastLine(error)}`)
      return EXIT.refused
    }
    throw error
  }
}

/** Login refused, no such database, no such table or column: codes of Prisma and of PostgreSQL. */
const UNUSABLE = /^(P1000|P1003|P1010|P202[12]|28000|28P01|3D000|42P01|42703|42501)$/

function isUnusableDatabase(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && UNUSABLE.test(error.code)
}

function program(console: Console): Command {
  const root = new Command('npm run admin --')
    .description('Commands for the operator of an installation. They read the same environment as the gateway.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => console.print(text.trimEnd()),
      writeErr: (text) => console.say(text.trimEnd()),
    })
    .showHelpAfterError()
    .addHelpText('after', '\nExit codes: 0 success, 1 failure, 2 usage error.')
  addOrganizationCommands(root, console)
  addLimitCommands(root, console)
  addModelKeyCommand(addKeyCommands(root, console), console)
  addAuditCommand(root, console)
  addQueueCommands(root, console)
  addWebhookCommands(root, console)
  addDomainCommands(root, console)
  addAppCommands(root, console)
  addMetricsCommands(root, console)
  addCheckCommand(root, console)
  addSecretsCommand(root, console)
  return root
}

/** Prisma puts the reason below the failed call. */
function lastLine(error: unknown): string {
  const text = messageOf(error)
  return text.trimEnd().split('\n').at(-1) ?? ''
}
