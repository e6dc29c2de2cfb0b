import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { SERVICES } from '@restante/contracts/vocabulary'
import type { System } from '../stack/system.ts'

/** A running system as the commands of runbooks see it. */
export interface OperatedSystem {
  /** Variables for a shell: `kubectl` and `helm` are found in its `PATH`, and mean this system. */
  readonly environment: Readonly<Record<string, string>>
  /** The commands so far that only a cluster can carry out. */
  clusterCommands(): Promise<readonly string[]>
}

/** @param folder for the programs that stand in for `kubectl` and `helm`. */
export async function operate(system: System, folder: string): Promise<OperatedSystem> {
  const bin = path.join(folder, 'bin')
  const noted = path.join(folder, 'noted')
  const description = path.join(folder, 'installation.json')
  await mkdir(bin, { recursive: true })
  const services = Object.fromEntries(
    SERVICES.map((name) => {
      const { environment, log } = system.process(name)
      return [name, { environment, log }]
    }),
  )
  await writeFile(noted, '')
  await writeFile(description, JSON.stringify({ services, noted }))
  for (const program of ['kubectl', 'helm']) {
    const file = path.join(bin, program)
    await writeFile(file, `#!/bin/sh\nexec '${process.execPath}' '${standIn}' ${program} "$@"\n`)
    await chmod(file, 0o755)
  }
  return {
    environment: {
      PATH: `${bin}:${path.dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: folder,
      RESTANTE_INSTALLATION: description,
      KAFKA_BROKERS: system.process('gateway').environment['KAFKA_BROKERS'] ?? '',
    },
    async clusterCommands() {
      return (await readFile(noted, 'utf8')).trimEnd().split('\n')
    },
  }
}

const standIn = path.join(import.meta.dirname, 'stand-in.ts')
