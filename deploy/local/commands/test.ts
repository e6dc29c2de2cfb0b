import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readSettings, root } from '../settings.ts'
import { changedFiles, selectTests } from '../testing/changed-files.ts'
import { ensureChartPrograms } from '../testing/chart-programs.ts'
import { ensureObjectStore } from '../testing/compiled-programs.ts'
import { SLOW_FILES } from '../testing/slow-files.ts'
import { SLOW_SUITES } from '../testing/slow-suites.ts'
import { overBudget, readSummary, type SlowFile, type Summary, slowestFiles } from '../testing/summary.ts'
import { runOnEngines } from './on-engines.ts'

const JEST = ['--disable-warning=ExperimentalWarning', join(root, 'node_modules/jest/bin/jest.js')]

/** Tests of the chart and of alerts, which need programs that `npm test` does without. */
const CHART_TESTS = ['<rootDir>/helm/test/**/*.test.ts', '<rootDir>/deploy/observability/test/**/*.chart.test.ts']

/** Tests in one process, most without engines. They need a core, and are in no other's way. */
const CALCULATING = ['libs/contracts', 'libs/mime', 'libs/recurrence', 'tools']

/** How often a file over its budget runs again before it fails the run: the machine may stand still in any of them. */
const REPEATS = 3

const ALONE = /\.alone\.test\.ts$/

/**
 * Tests that load the whole machine run when all others are done, two files at a time. The others spend much of their
 * time waiting, so that two cores are enough for three at once. Those that load the machine wait as well, for engines to
 * come back, so tests that only calculate run beside them.
 */
const rounds = [
  [
    '--maxWorkers=3',
    `--testPathIgnorePatterns=${ALONE.source}`,
    ...CALCULATING.map((folder) => `--testPathIgnorePatterns=<rootDir>/${folder}/`),
  ],
  [
    '--maxWorkers=2',
    '--testMatch=<rootDir>/test-e2e/**/*.alone.test.ts',
    ...CALCULATING.map((folder) => `--testMatch=<rootDir>/${folder}/**/*.test.ts`),
  ],
]

const mayTakeLonger = new Map([...SLOW_FILES, ...SLOW_SUITES])

const slowSuites = [...SLOW_SUITES.keys()]

/** The same without slow suites. */
const quickRounds = rounds.map((round) => [
  ...round,
  ...slowSuites.map((file) => `--testPathIgnorePatterns=<rootDir>/${file}`),
])

/** Slow suites only. */
const slowRounds = [
  ['--maxWorkers=3', '--runTestsByPath', ...slowSuites.filter((file) => !ALONE.test(file))],
  ['--maxWorkers=1', '--runTestsByPath', ...slowSuites.filter((file) => ALONE.test(file))],
]

/** The parsed arguments of the command. */
interface Wishes {
  /** Whether all suites run, and those that are usually shortened at full length. */
  readonly long: boolean
  /** Whether slow suites run, and no others. */
  readonly slow: boolean
  /** `--changed`, or `--changed=<commit>`. */
  readonly changed: { readonly base: string | undefined } | undefined
  /** All other arguments, for jest. */
  readonly jest: readonly string[]
}

/**
 * `npm test`: every suite on the real engines but the slow ones, which `--slow` (`npm run test:slow`) runs. A path runs the
 * suites below it, `--changed` those that a change can break, `--long` (`npm run test:long`) the full length of all; other
 * arguments are jest's. The run closes with the slowest files; the last line is `N passed, N failed`. The exit code is not
 * 0 when a test failed, none ran, or a file took longer than its budget beside others and each time by itself.
 */
export async function test(args: readonly string[]): Promise<number> {
  const wishes = readArguments(args)
  const { long, changed, jest } = wishes
  const selection = changed ? await selectChanged(changed.base) : []
  if (selection === undefined) {
    process.stdout.write('Nothing has changed that a test depends on.\n0 passed, 0 failed\n')
    return 0
  }
  const run = join(readSettings(process.env).state, 'run')
  const report = join(run, `test-report-${process.pid}`)
  const options = [...JEST, '--passWithNoTests']
  let rounded: Summary | undefined
  let late: readonly SlowFile[] = []
  const programs = async function* () {
    // In this order, because the options of a round take every following word as a pattern.
    for (const round of roundsFor(wishes)) yield [...options, ...jest, ...selection, ...round]
    rounded = await readSummary(report)
    late = long ? [] : overBudget(rounded, mayTakeLonger)
    for (let repeated = 0; repeated < REPEATS && late.length > 0; repeated++) {
      process.stdout.write('\nFiles over their budget run again, one at a time:\n')
      await rm(report, { force: true })
      // A worker ends when its files have run, whatever they have left open.
      yield [...options, '--maxWorkers=1', '--runTestsByPath', ...late.map(({ path }) => path)]
      const again = await readSummary(report)
      late = overBudget(again, mayTakeLonger)
      rounded.failed += again.failed
    }
  }
  try {
    await mkdir(run, { recursive: true })
    const code = await runOnEngines(programs(), {
      RESTANTE_TEST_REPORT: report,
      RESTANTE_TEST_LENGTH: long ? 'long' : 'short',
      ...(long && (await ensureObjectStore())),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, 'node_modules/.cache/compiled'),
    })
    const summary = rounded ?? (await readSummary(report))
    process.once('exit', () => process.stdout.write(closing(summary, late)))
    const none = summary.passed + summary.failed === 0 && changed === undefined
    return none || late.length > 0 ? code || 1 : code
  } finally {
    await rm(report, { force: true })
  }
}

/**
 * `npm run test:chart`: the chart, its examples, alerts and dashboards, with Helm and the validators of Kubernetes and
 * Prometheus, which are fetched once. Arguments are jest's; the last line is `N passed, N failed`.
 */
export async function testChart(args: readonly string[]): Promise<number> {
  const programs = await ensureChartPrograms()
  await ensureObjectStore()
  const report = join(readSettings(process.env).state, 'run', `test-report-${process.pid}`)
  const matches = CHART_TESTS.map((pattern) => `--testMatch=${pattern}`)
  try {
    await mkdir(dirname(report), { recursive: true })
    const code = await runOnEngines([[...JEST, ...args, '--maxWorkers=2', ...matches]], {
      ...programs,
      RESTANTE_TEST_REPORT: report,
      RESTANTE_TEST_LENGTH: 'short',
    })
    const summary = await readSummary(report)
    process.once('exit', () => process.stdout.write(closing(summary, [])))
    return summary.passed + summary.failed === 0 ? code || 1 : code
  } finally {
    await rm(report, { force: true })
  }
}

/** What a path names runs, slow or not. */
function roundsFor({ long, slow, jest }: Wishes): readonly string[][] {
  if (long || jest.some((arg) => !arg.startsWith('-'))) return rounds
  return slow ? slowRounds : quickRounds
}

function readArguments(args: readonly string[]): Wishes {
  const base = /^--changed(?:=(.+))?$/
  const changed = args.map((arg) => base.exec(arg)).find((found) => found !== null)
  return {
    long: args.includes('--long'),
    slow: args.includes('--slow'),
    changed: changed ? { base: changed[1] } : undefined,
    jest: args.filter((arg) => !['--long', '--slow'].includes(arg) && !base.test(arg)),
  }
}

/** The options of jest that select what changes concern; undefined when they concern no module. */
async function selectChanged(base: string | undefined): Promise<string[] | undefined> {
  const selection = await selectTests(await changedFiles(base))
  if (selection.kind === 'all') return []
  const modules = selection.modules.filter((file) => existsSync(join(root, file)))
  return modules.length === 0 ? undefined : ['--findRelatedTests', ...modules]
}

function closing(summary: Summary, late: readonly SlowFile[]): string {
  const { passed, failed } = summary
  return [
    `\nThe slowest files:\n${slowestFiles(summary)}`,
    ...late.map(
      ({ path, seconds, allowed }) =>
        `${path} took ${seconds.toFixed(1)} s by itself, more than ${allowed.toFixed(0)} s: make it shorter, or name it ` +
        'with the reason in deploy/local/testing/slow-files.ts\n',
    ),
    `${passed} passed, ${failed} failed\n`,
  ].join('')
}
