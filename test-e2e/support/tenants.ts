import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { adminProgram } from '@restante/local/organization.ts'
import { serviceCommand } from '@restante/service/process'
import { createOrganization, randomName } from '@restante/testkit'
import { AgentMailClient } from 'agentmail'
import type { Endpoints } from '../stack/endpoints.ts'
import { Api } from './api.ts'

const run = promisify(execFile)

/** An organization with its first key. */
export interface Tenant {
  readonly id: string
  readonly key: string
  /** The public client. */
  readonly client: AgentMailClient
  readonly api: Api
}

/** The public client, configured for this system. It does not retry, so that a test sees the first response. */
export function clientOf(endpoints: Endpoints, key: string): AgentMailClient {
  return new AgentMailClient({ baseUrl: endpoints.gatewayUrl, apiKey: key, maxRetries: 0 })
}

/** Creates an organization with the operator's command line. */
export async function createTenant(endpoints: Endpoints): Promise<Tenant> {
  const { id, key } = await createOrganization(endpoints.operator)
  return { id, key, client: clientOf(endpoints, key), api: new Api(endpoints.gatewayUrl, key) }
}

/** Runs `npm run admin -- <words>` against this system. @returns its output. */
export async function operate(endpoints: Endpoints, ...words: string[]): Promise<string> {
  const [program, ...args] = serviceCommand(adminProgram)
  const { stdout } = await run(program, [...args, ...words], {
    cwd: path.dirname(adminProgram),
    env: { PATH: process.env['PATH'], ...endpoints.operator },
  })
  return stdout
}

export function keyIn(printed: string): string {
  const [key] = /am_\w+_[0-9a-f]{64}/.exec(printed) ?? []
  if (key === undefined) throw new Error(`there is no key in: ${printed}`)
  return key
}

/** A name that is not in use. */
export function newUsername(prefix = 'box'): string {
  return `${prefix}-${randomName()}`
}
