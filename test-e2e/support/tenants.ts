import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { adminProgram } from '@restante/local/organization.ts'
import { serviceCommand } from '@restante/service'
import { createOrganization, randomName } from '@restante/testkit'
import { AgentMailClient } from 'agentmail'
import type { Place } from '../stack/place.ts'
import { Api } from './api.ts'

const run = promisify(execFile)

/** An organization with its first key, as its owner uses it. */
export interface Tenant {
  readonly id: string
  readonly key: string
  /** The public client. */
  readonly client: AgentMailClient
  readonly api: Api
}

/** The public client as its users make it, pointed at this system. It does not repeat requests: a test sees the first answer. */
export function clientOf(place: Place, key: string): AgentMailClient {
  return new AgentMailClient({ baseUrl: place.gatewayUrl, apiKey: key, maxRetries: 0 })
}

/** A new organization, made as the operator's command line makes it. */
export async function createTenant(place: Place): Promise<Tenant> {
  const { id, key } = await createOrganization(place.operator)
  return { id, key, client: clientOf(place, key), api: new Api(place.gatewayUrl, key) }
}

/** Runs `npm run admin -- <words>` against this system. @returns what it prints. */
export async function operate(place: Place, ...words: string[]): Promise<string> {
  const [program, ...args] = serviceCommand(adminProgram)
  const { stdout } = await run(program, [...args, ...words], {
    cwd: path.dirname(adminProgram),
    env: { PATH: process.env['PATH'], ...place.operator },
  })
  return stdout
}

export function keyIn(printed: string): string {
  const [key] = /am_\w+_[0-9a-f]{64}/.exec(printed) ?? []
  if (key === undefined) throw new Error(`there is no key in: ${printed}`)
  return key
}

/** An address that nobody has. */
export function newUsername(prefix = 'box'): string {
  return `${prefix}-${randomName()}`
}
