import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { serviceCommand } from '@restante/service/process'
import { engineUrls } from '../engines/engines.ts'
import { serviceEnvironment } from '../environment.ts'
import { listens } from '../processes.ts'
import { Advice } from '../progress.ts'
import { openSecrets } from '../secrets.ts'
import { listenerOf, readSettings, root } from '../settings.ts'

/**
 * `run <service> <program> [arguments]`: runs a program with the environment that the service has in the running stack.
 * Showing the program's help does not need the stack.
 */
export async function runBeside([service = '', program = '', ...args]: readonly string[]): Promise<number> {
  const asksForHelp = args.some((word) => word === '--help' || word === '-h') || args[0] === 'help'
  return run(program, args, asksForHelp ? process.env : await environmentOf(service))
}

async function environmentOf(service: string): Promise<NodeJS.ProcessEnv> {
  const settings = readSettings(process.env)
  if (!(await listens(settings.port(listenerOf(service))))) {
    throw new Advice(
      'The local stack is not running. `npm start` starts it, in another terminal or with `-- --detach`.',
    )
  }
  const secrets = await openSecrets(settings)
  const engines = engineUrls(settings, process.env)
  return { ...process.env, ...serviceEnvironment(service, { settings, engines, secretOf: secrets.of }) }
}

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [node, ...words] = serviceCommand(resolve(root, program))
  const child = spawn(node, [...words, ...args], { stdio: 'inherit', env })
  process.on('SIGINT', () => undefined)
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 130
}
