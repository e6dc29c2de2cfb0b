import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceCommand } from '@restante/service/process'
import { z } from 'zod'
import { run } from './processes.ts'
import { root, type Settings } from './settings.ts'

const made = z.object({ organization_id: z.string(), api_key: z.string() })
export type FirstOrganization = z.output<typeof made>

/** The operator's command line; it works on the gateway's database. */
export const adminProgram = join(root, 'services/gateway/src/admin/main.ts')

/** Creates an organization with a key unless there is one, and stores the key, which cannot be shown again. */
export async function ensureOrganization(settings: Settings, gatewayEnvironment: NodeJS.ProcessEnv): Promise<void> {
  if (await readOrganization(settings)) return
  const [program, ...args] = serviceCommand(adminProgram)
  const answer = await run(program, [...args, 'organizations', 'first', '--json'], {
    env: { ...process.env, ...gatewayEnvironment },
  })
  const parsed = made.safeParse(JSON.parse(answer))
  if (!parsed.success) return
  await writeFile(file(settings), `${JSON.stringify(parsed.data, null, 2)}\n`, { mode: 0o600 })
}

/** The organization created at the first start; undefined when the first one was created otherwise. */
export async function readOrganization(settings: Settings): Promise<FirstOrganization | undefined> {
  const text = await readFile(file(settings), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : made.parse(JSON.parse(text))
}

function file(settings: Settings): string {
  return join(settings.state, 'organization.json')
}
