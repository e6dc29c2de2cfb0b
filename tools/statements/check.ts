// `npm run statements:check` checks every SQL statement of the sources against the schema: PostgreSQL describes each
// one on the migrated database of its package, and the description is compared with the types that `sql<Row, Values>`
// declares. Statements of queues are planned, too. `check.ts <folder>...` checks packages in other folders.
import { resolve } from 'node:path'
import { MadeStatements } from './made.ts'

// Imports are recorded from here on, so all other modules are imported after this one.
const made = new MadeStatements()
const { checkStatements } = await import('./packages.ts')

const { checked, wrong } = await checkStatements(
  made,
  process.argv.slice(2).map((folder) => resolve(folder)),
)
process.stdout.write(wrong.length === 0 ? `${checked} statements fit the schema\n` : `${wrong.join('\n')}\n`)
process.exitCode = wrong.length === 0 ? 0 : 1
