import { createOrganization, randomName } from '@restante/testkit'
import { AgentMailClient } from 'agentmail'
import type { Endpoints } from '../stack/endpoints.ts'
import { present, type Sources } from '../stack/sources.ts'
import { Api } from './api.ts'

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

/**
 * Creates an organization as the operator does.
 * @param sources the release whose command line does it: that of the database.
 */
export async function createTenant(endpoints: Endpoints, sources: Sources = present): Promise<Tenant> {
  const { operator } = endpoints
  const { id, key } = await (sources === present ? createOrganization(operator) : sources.createOrganization(operator))
  return { id, key, client: clientOf(endpoints, key), api: new Api(endpoints.gatewayUrl, key) }
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
