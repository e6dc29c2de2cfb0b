import { ConfigurationError, readEnvironment } from '@restante/service'
import { execute } from './commands.ts'
import { configure, environment } from './config.ts'
import { OperatorMistake } from './mistake.ts'
import { Operator } from './operator.ts'

/** The operator's command line: what it prints is for a person, on standard output; mistakes go to standard error. */
async function main(words: readonly string[]): Promise<number> {
  let operator: Operator | undefined
  try {
    operator = new Operator(configure(readEnvironment(environment, process.env)))
    process.stdout.write(`${await execute(operator, words)}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof OperatorMistake || error instanceof ConfigurationError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  } finally {
    await operator?.close()
  }
}

process.exitCode = await main(process.argv.slice(2))
