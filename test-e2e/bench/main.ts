/** `npm run bench`: measures, prints a table and writes JSON. See README.md in this folder. */
import { mkdir, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import path from 'node:path'
import { say } from '@restante/local/progress.ts'
import { readSettings } from '@restante/local/settings.ts'
import { benches } from './benches/index.ts'
import { type BenchOptions, InvalidArgumentError, readArguments } from './harness/arguments.ts'
import { type ReportedFigure, reported } from './harness/figures.ts'
import { describeMachine } from './harness/machine.ts'
import { runBench } from './harness/runner.ts'
import { table } from './harness/table.ts'

/** Runs the requested benches. @returns the exit code: 1 when a bench failed; a missed goal is no failure. */
async function measure(options: BenchOptions): Promise<number> {
  const began = new Date()
  const run = path.join(readSettings(process.env).state, 'bench', began.toISOString().replaceAll(/[:.]/g, '-'))
  await mkdir(run, { recursive: true })
  const machine = await describeMachine()
  const figures: ReportedFigure[] = []
  const failures: Record<string, string> = {}
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  for (const bench of benches.filter(({ name }) => options.benches.includes(name))) {
    if (interrupted.signal.aborted) break
    say(`${bench.name}: ${bench.about}`)
    try {
      const measured = await runBench(bench, options, run, interrupted.signal)
      figures.push(...measured.map((figure) => reported(bench.name, figure)))
    } catch (error) {
      failures[bench.name] = error instanceof Error ? (error.stack ?? error.message) : String(error)
      say(`${bench.name}: failed: ${failures[bench.name]}`)
    }
  }
  const result = { began, quick: options.quick, machine: { ...machine, loadAfter: loadavg()[0] }, figures, failures }
  await writeFile(`${run}.json`, `${JSON.stringify(result, null, 2)}\n`)
  const { cpu, cores, node, postgres, redis, kafka } = machine
  print(`\n${cores} x ${cpu}, Node ${node}, PostgreSQL ${postgres}, Redis ${redis}, Kafka ${kafka}`)
  print(`\n${table(figures)}\n`)
  print(`Figures  ${run}.json`)
  if (options.profiled.size > 0) print(`Profiles ${run}/<bench>/profiles/<service>/*.cpuprofile`)
  return Object.keys(failures).length > 0 ? 1 : 0
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

try {
  const names = benches.map(({ name }) => name)
  process.exit(await measure(readArguments(process.argv.slice(2), names)))
} catch (error) {
  if (!(error instanceof InvalidArgumentError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(2)
}
