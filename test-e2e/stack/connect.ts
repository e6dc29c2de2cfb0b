import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { waitFor } from '@restante/testkit'
import { z } from 'zod'
import { type Place, place } from './place.ts'
import { claim, currentRun } from './run.ts'

const outcome = z.union([z.object({ place }), z.object({ failure: z.string() })])

/** How long services, databases and topics may take until all of them are ready. */
export const START_TIMEOUT = 120_000

/** The system that all test files of this run share; whoever asks first starts it. */
export async function connectSystem(): Promise<Place> {
  const run = currentRun()
  if (await claim(run)) spawnHolder(run.folder)
  const text = await waitFor(() => readFile(run.outcomeFile, 'utf8').catch(() => undefined), {
    what: `the system to start (${run.folder})`,
    timeout: START_TIMEOUT - 5_000,
    interval: 100,
  })
  const found = outcome.parse(JSON.parse(text))
  if ('failure' in found) throw new Error(`The system did not start: ${found.failure}`)
  return found.place
}

function spawnHolder(folder: string): void {
  const log = openSync(path.join(folder, 'system.log'), 'a')
  const holder = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts'), folder], {
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  holder.unref()
}
