import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Settings } from './settings.ts'

/** The secret of a name: the same one on every start of this stack. */
export type SecretOf = (name: string) => string

const stored = z.record(z.string(), z.string())

/** Secrets of this installation, each generated on first use and stored in `.restante/secrets.json`. */
export async function openSecrets(settings: Settings): Promise<{ of: SecretOf; save(): Promise<void> }> {
  const file = join(settings.state, 'secrets.json')
  const secrets = stored.parse(JSON.parse(await readFile(file, 'utf8').catch(() => '{}')))
  return {
    of(name) {
      const secret = secrets[name] ?? randomBytes(32).toString('hex')
      secrets[name] = secret
      return secret
    },
    async save() {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
    },
  }
}
