/**
 * Finds inboxes that hold mail but that their owner, the gateway, does not know: `npm run inboxes:check -- [--delete]`,
 * with the environment of mail-ingest.
 */

import { parseArgs } from 'node:util'
import { Database } from '@restante/service/database'
import { messageOf } from '@restante/service/errors'
import { ServiceClient } from '@restante/service/http'
import { configuration } from '../config.ts'
import type { ScopeColumns } from '../mailbox/rows.ts'
import { compareInboxes, markDeleted } from './unknown-inboxes.ts'

const USAGE = `usage: npm run inboxes:check -- [--delete]
  Lists the inboxes that hold mail but that the gateway does not know: their deletion was lost.
  --delete  marks them deleted; mail-ingest then purges their mail, which cannot be undone

Exit codes: 0 all inboxes are known, or the others were marked; 1 there are unknown ones, or the check failed;
2 usage error.`

const EXIT = { done: 0, refused: 1, misused: 2 } as const

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

async function main(): Promise<number> {
  const { help, deletes } = wordsGiven()
  if (help) {
    print(USAGE)
    return EXIT.done
  }
  const { database, peers } = configuration.read(process.env)
  const db = new Database({ ...database, applicationName: 'inboxes-check' })
  const gateway = new ServiceClient({ from: 'mail-ingest', to: 'gateway', ...peers.of('gateway') })
  try {
    const { held, unknown } = await compareInboxes(db, gateway)
    print(`${held} inboxes hold mail; unknown to the gateway: ${unknown.length}`)
    for (const inbox of unknown) print(lineOf(inbox))
    if (unknown.length === 0) return EXIT.done
    if (!deletes) return EXIT.refused
    await markDeleted(db, unknown)
    print(`Marked deleted: ${unknown.length}. Their mail is being purged.`)
    return EXIT.done
  } finally {
    await Promise.all([db.stop(), gateway.stop()])
  }
}

function wordsGiven(): { readonly help: boolean; readonly deletes: boolean } {
  const options = { delete: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values } = parseArgs({ options })
    return { help: values.help ?? false, deletes: values.delete ?? false }
  } catch (error) {
    throw new UsageError(`${messageOf(error)}\n\n${USAGE}`)
  }
}

class UsageError extends Error {
  override readonly name = 'UsageError'
}

function lineOf({ inbox_uid, inbox_address, organization_id }: ScopeColumns): string {
  return `${inbox_uid}  ${inbox_address}  of organization ${organization_id}`
}

try {
  process.exitCode = await main()
} catch (error) {
  say(messageOf(error))
  process.exitCode = error instanceof UsageError ? EXIT.misused : EXIT.refused
}
