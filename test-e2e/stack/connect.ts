import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { waitFor } from '@restante/testkit'
import { sharesSystem } from '@restante/tools/jest/shared-system.ts'
import { z } from 'zod'
import { type Endpoints, endpoints } from './endpoints.ts'
import { claim, currentRun } from './run.ts'

const outcome = z.union([z.object({ endpoints }), z.object({ failure: z.string() })])

/** Time limit for the start of services, databases and topics. */
export const START_TIMEOUT = 600_000

/** The system that all test files of this run share. The first caller starts it. */
export async function connectSystem(): Promise<Endpoints> {
  const { testPath } = expect.getState()
  if (testPath === undefined || !sharesSystem(testPath))
    throw new Error('name the fixture of this file in tools/jest/shared-system.ts')
  const run = currentRun()
  if (await claim(run)) spawnHolder(run.folder)
  const text = await waitFor(() => readFile(run.outcomeFile, 'utf8').catch(() => undefined), {
    what: `the system to start (${run.folder})`,
    timeout: START_TIMEOUT - 5_000,
    interval: 100,
  })
  const found = outcome.parse(JSON.parse(text))
  if ('failure' in found) throw new Error(`The system did not start: ${found.failure}`)
  return found.endpoints
}

function spawnHolder(folder: string): void {
  const log = openSync(path.join(folder, 'system.log'), 'a')
  const holder = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts'), folder], {
    detached: true,
    // No worker has this number: its ports are not those that the worker itself chooses.
    env: { ...process.env, JEST_WORKER_ID: '0' },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  holder.unref()
}
