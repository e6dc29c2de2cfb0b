// Checks repositories against the import rules, each as if the command ran in it: `cruise.ts <folder>...` prints the names
// of the violated rules, one line of JSON per folder. One process for all of them, because loading the tool takes a second.
import { resolve } from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'

const options = await extractOptions(resolve(import.meta.dirname, '../../../.dependency-cruiser.cjs'))
for (const folder of process.argv.slice(2)) {
  process.chdir(folder)
  const { output } = await cruise(['libs', 'services'], { ...options, outputType: 'json' })
  const { summary }: { summary: { violations: { rule: { name: string } }[] } } = JSON.parse(String(output))
  const names = new Set(summary.violations.map(({ rule }) => rule.name))
  process.stdout.write(`${JSON.stringify([...names].sort())}\n`)
}
