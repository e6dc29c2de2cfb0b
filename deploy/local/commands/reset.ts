import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { otherUsers, removeEngineData } from '../engines/engines.ts'
import { Advice, say } from '../progress.ts'
import { readSettings } from '../settings.ts'
import { stopStack } from './stop.ts'

/** What a stack stores apart from the data of the engines. Downloads (packages, the jars of Kafka) stay. */
const kept = ['blobs', 'captured-mail', 'secrets.json', 'organization.json', 'logs', 'e2e', 'run']

/** `npm run reset`: stops the stack and deletes its data, after asking; `-- --yes` does not ask. */
export async function reset(args: readonly string[]): Promise<number> {
  const settings = readSettings(process.env)
  if (!args.includes('--yes') && !(await confirmed(`Delete all data of the local stack in ${settings.state}?`))) {
    say('Nothing was deleted.')
    return 1
  }
  await stopStack(settings)
  const users = await otherUsers(settings)
  if (users.length > 0) throw new Advice(`Process ${users.join(', ')} uses the engines. Nothing was deleted.`)
  await removeEngineData(settings)
  for (const name of kept) await rm(join(settings.state, name), { recursive: true, force: true })
  if (process.env['DATABASE_URL'] || process.env['KAFKA_BROKERS'] || process.env['REDIS_URL']) {
    say('Engines named in the environment were not emptied: their data is still there.')
  }
  say('All data of the local stack is deleted. `npm start` creates it again.')
  return 0
}

async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Advice('There is no terminal to ask in: add `-- --yes` to delete without asking.')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}
