// `npm run statements:check`: does every statement of the sources fit the schema? PostgreSQL describes each one on the
// migrated database of its package, and the answer is compared with the types that `sql<Row, Values>` declares.
// `check.ts <folder>...` checks packages that lie elsewhere.
import { resolve } from 'node:path'
import { MadeStatements } from './made.ts'

// What is imported from here on is recorded, so everything else is imported after it.
const made = new MadeStatements()
const { checkStatements } = await import('./packages.ts')

const { checked, wrong } = await checkStatements(
  made,
  process.argv.slice(2).map((folder) => resolve(folder)),
)
process.stdout.write(wrong.length === 0 ? `${checked} statements fit the schema\n` : `${wrong.join('\n')}\n`)
process.exitCode = wrong.length === 0 ? 0 : 1
