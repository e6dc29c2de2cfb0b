import { bench } from './commands/bench.ts'
import { cluster } from './commands/cluster.ts'
import { engines } from './commands/engines.ts'
import { observe } from './commands/observe.ts'
import { reset } from './commands/reset.ts'
import { runBeside } from './commands/run.ts'
import { start } from './commands/start.ts'
import { stop } from './commands/stop.ts'
import { test, testChart } from './commands/test.ts'
import { Advice } from './progress.ts'

/** Takes the arguments after the command; resolves to the exit code. */
type Command = (args: readonly string[]) => Promise<number>

const commands = new Map<string, Command>([
  ['start', start],
  ['stop', stop],
  ['reset', reset],
  ['test', test],
  ['test-chart', testChart],
  ['bench', bench],
  ['cluster', cluster],
  ['observe', observe],
  ['engines', engines],
  ['run', runBeside],
])

const [name = '', ...args] = process.argv.slice(2)
const command = commands.get(name)
if (!command) {
  process.stderr.write(`Unknown command '${name}'. There are: ${[...commands.keys()].join(', ')}\n`)
  process.exit(2)
}
try {
  process.exitCode = await command(args)
} catch (error) {
  const text = error instanceof Advice ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`\n${text}\n`)
  process.exitCode = 1
}
