import { connectSystem, START_TIMEOUT } from '../stack/connect.ts'
import type { Endpoints } from '../stack/endpoints.ts'
import { type OutsidePeer, openPeer } from './peers.ts'
import { createTenant, type Tenant } from './tenants.ts'

/** The fixture of nearly every file. */
export interface Suite {
  readonly endpoints: Endpoints
  /** An organization for this file alone. */
  readonly tenant: Tenant
  /** A mail server for this file alone. */
  readonly peer: OutsidePeer
  /** Stops something after the last test of the file. */
  cleanUp<T extends { stop(): Promise<void> }>(thing: T): T
}

/** Connects a test file to the shared system. The members are available from the first test on. */
export function useSystem(): Suite {
  let parts: Pick<Suite, 'endpoints' | 'tenant' | 'peer'> | undefined
  const things: { stop(): Promise<void> }[] = []
  beforeAll(async () => {
    const endpoints = await connectSystem()
    const [tenant, peer] = await Promise.all([createTenant(endpoints), openPeer(endpoints)])
    parts = { endpoints, tenant, peer }
    things.push(peer)
  }, START_TIMEOUT)
  afterAll(async () => {
    for (const thing of things.toReversed()) await thing.stop()
  })
  function present() {
    if (!parts) throw new Error('the system is available only within tests')
    return parts
  }
  return {
    get endpoints() {
      return present().endpoints
    },
    get tenant() {
      return present().tenant
    },
    get peer() {
      return present().peer
    },
    cleanUp(thing) {
      things.push(thing)
      return thing
    },
  }
}
