import { type MailPeer, waitFor } from '@restante/testkit'
import { AgentMailClient } from 'agentmail'
import { z } from 'zod'
import { Api } from '../../support/api.ts'
import type { Tenant } from '../../support/tenants.ts'
import { type Address, addressOf, kubectl, RELEASE } from './kubernetes.ts'

/** The installed chart, as those reach it who use it. */
export interface Installation {
  /** The public API. */
  readonly gatewayUrl: string
  readonly streamUrl: string
  /** Port 25 of the load balancer. */
  readonly smtp: Address
  /** The mail server outside, to which replies go. */
  readonly server: MailPeer
}

/** Finds the addresses of the installed chart, and resolves when the API answers. */
export async function findInstallation(server: MailPeer): Promise<Installation> {
  const [{ host, port }, smtp] = await Promise.all([
    addressOf(`${RELEASE}-gateway`, 'http'),
    addressOf(`${RELEASE}-smtp`, 'smtp'),
  ])
  const gatewayUrl = `http://${host}:${port}`
  // Pods are ready before kube-proxy has written its rules; until then the address refuses connections.
  await waitFor(async () => (await fetch(`${gatewayUrl}/readyz`)).ok, {
    what: `${gatewayUrl} to answer`,
    timeout: 60_000,
    interval: 100,
  })
  return { gatewayUrl, streamUrl: `ws://${host}:${port}/v0`, smtp, server }
}

const organization = z.object({ organization_id: z.string(), api_key: z.string() })

/** Runs the operator's command line in a pod of the gateway. */
export function administrate(...words: string[]): Promise<string> {
  return inGateway('services/gateway/src/admin/main.ts', ...words)
}

/** Runs a program of the gateway's image in one of its pods. */
export function inGateway(program: string, ...words: string[]): Promise<string> {
  const command = ['/app/libs/service/bin/service-node', 'node', `/app/${program}`, ...words]
  return kubectl('exec', `deployment/${RELEASE}-gateway`, '--', ...command)
}

/** Creates an organization as the operator does. */
export async function createTenant({ gatewayUrl }: Installation): Promise<Tenant> {
  const made = organization.parse(JSON.parse(await administrate('organizations', 'create', '--json')))
  const key = made.api_key
  const client = new AgentMailClient({ baseUrl: gatewayUrl, apiKey: key, maxRetries: 0 })
  return { id: made.organization_id, key, client, api: new Api(gatewayUrl, key) }
}
