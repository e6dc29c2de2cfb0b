import { Command, CommanderError } from '@commander-js/extra-typings'
import { ApiError, ConfigurationError, isInfrastructureError } from '@restante/service'
import { addAuditCommand } from './audit-command.ts'
import type { Console } from './console.ts'
import { addKeyCommands } from './key-commands.ts'
import { UsageError } from './mistake.ts'
import { addOrganizationCommands } from './organization-commands.ts'

/** How a command ended, for scripts. */
export const EXIT = {
  done: 0,
  /** What was asked cannot be, or the installation cannot be reached; nothing was changed. */
  refused: 1,
  /** The words make no command. */
  misused: 2,
} as const

/** Runs one command. @returns the exit code. @throws whatever nobody foresaw. */
export async function execute(console: Console, words: readonly string[]): Promise<number> {
  try {
    await program(console).parseAsync([...words], { from: 'user' })
    return EXIT.done
  } catch (error) {
    // Commander has said what is wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misused
    if (error instanceof UsageError || error instanceof ConfigurationError || error instanceof ApiError) {
      console.say(error.message)
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

/** Login refused, no such database, no such table or column: as Prisma names them, and as PostgreSQL does. */
const UNUSABLE = /^(P1000|P1003|P1010|P202[12]|28000|28P01|3D000|42P01|42703|42501)$/

function isUnusableDatabase(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && UNUSABLE.test(error.code)
}

function program(console: Console): Command {
  const root = new Command('npm run admin --')
    .description('What the operator of an installation does. It reads the same environment as the gateway.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => console.print(text.trimEnd()),
      writeErr: (text) => console.say(text.trimEnd()),
    })
    .showHelpAfterError()
    .addHelpText('after', '\nExit codes: 0 done, 1 it cannot be done, 2 the words make no command.')
  addOrganizationCommands(root, console)
  addKeyCommands(root, console)
  addAuditCommand(root, console)
  return root
}

/** Prisma puts the reason below the call that failed. */
function lastLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.trimEnd().split('\n').at(-1) ?? ''
}
