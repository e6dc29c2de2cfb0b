import { connectSystem, START_TIMEOUT } from '../stack/connect.ts'
import type { Place } from '../stack/place.ts'
import { type OutsidePeer, openPeer } from './peers.ts'
import { createTenant, type Tenant } from './tenants.ts'

/** What nearly every file begins with. */
export interface Suite {
  readonly place: Place
  /** An organization of this file's own. */
  readonly tenant: Tenant
  /** A mail server of this file's own. */
  readonly peer: OutsidePeer
  /** Something that is stopped after the last test of the file. */
  cleanUp<T extends { stop(): Promise<void> }>(thing: T): T
}

/** Connects a test file to the shared system; its members are there from the first test on. */
export function useSystem(): Suite {
  let parts: Pick<Suite, 'place' | 'tenant' | 'peer'> | undefined
  const things: { stop(): Promise<void> }[] = []
  beforeAll(async () => {
    const place = await connectSystem()
    const [tenant, peer] = await Promise.all([createTenant(place), openPeer(place)])
    parts = { place, tenant, peer }
    things.push(peer)
  }, START_TIMEOUT)
  afterAll(async () => {
    for (const thing of things.toReversed()) await thing.stop()
  })
  function present() {
    if (!parts) throw new Error('the system is there only within tests')
    return parts
  }
  return {
    get place() {
      return present().place
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
