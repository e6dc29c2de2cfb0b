import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { until } from '@restante/local/processes.ts'
import { root } from '@restante/local/settings.ts'
import { PATIENCE_MS } from '@restante/service/testing'

/** Names the folder of this run of jest to its workers. */
const VARIABLE = 'RESTANTE_E2E_RUN'

/** The folder of the system that the end-to-end tests of one run of jest share. */
export interface RunFolder {
  readonly folder: string
  /** The process of jest that the run belongs to. The name of the folder begins with its id. */
  readonly owner: number
  /** The process that runs the system. */
  readonly pidFile: string
  /** Written once: the endpoints of the system when it is ready, or the reason that it is not. */
  readonly outcomeFile: string
}

/** Names the run, before any worker starts. The system itself starts with the first test that needs it. */
export function beginRun(): void {
  process.env[VARIABLE] = path.join(root, '.restante/e2e', `${process.pid}-${randomUUID().slice(0, 8)}`)
}

export function currentRun(): RunFolder {
  const folder = process.env[VARIABLE]
  if (!folder) throw new Error(`${VARIABLE} is not set: run the tests with the configuration of the repository`)
  return runFolder(folder)
}

export function runFolder(folder: string): RunFolder {
  return {
    folder,
    owner: Number.parseInt(path.basename(folder), 10),
    pidFile: path.join(folder, 'pid'),
    outcomeFile: path.join(folder, 'outcome.json'),
  }
}

/** True for the one caller that creates the folder. */
export async function claim({ folder }: RunFolder): Promise<boolean> {
  await mkdir(path.dirname(folder), { recursive: true })
  return mkdir(folder).then(
    () => true,
    () => false,
  )
}

/** Writes atomically: a reader never sees half an outcome. */
export async function writeOutcome({ outcomeFile }: RunFolder, outcome: unknown): Promise<void> {
  await writeFile(`${outcomeFile}.new`, JSON.stringify(outcome))
  await rename(`${outcomeFile}.new`, outcomeFile)
}

/** Stops the system of this run, if one was started, and waits until it has cleaned up. */
export async function endRun(): Promise<void> {
  const run = currentRun()
  const pid = Number(await readFile(run.pidFile, 'utf8').catch(() => '0'))
  if (pid === 0 || !isAlive(pid)) return
  process.kill(pid, 'SIGTERM')
  await until(async () => !isAlive(pid), 3 * PATIENCE_MS)
  await rm(run.folder, { recursive: true, force: true })
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
