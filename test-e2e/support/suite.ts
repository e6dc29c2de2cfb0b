import { rm } from 'node:fs/promises'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { connectSystem, START_TIMEOUT } from '../stack/connect.ts'
import type { Endpoints } from '../stack/endpoints.ts'
import { currentRun } from '../stack/run.ts'
import { System } from '../stack/system.ts'
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
  return useSuite(connectSystem)
}

/**
 * Starts a system for a test file whose variables would change what other files see.
 * @param name of its folder. @param environment of every service, known once tests begin.
 * @param services that the file needs. Each takes seconds of processor time to start. Default: all.
 */
export function useOwnSystem(
  name: string,
  environment: () => Promise<Readonly<Record<string, string>>>,
  services: readonly ServiceName[] = SERVICES,
): Suite {
  return useSuite(async (cleanUp) => {
    const state = `${currentRun().folder}-${name}`
    cleanUp({ stop: () => rm(state, { recursive: true, force: true }) })
    return cleanUp(await System.start(state, { environment: await environment(), services })).endpoints
  })
}

function useSuite(open: (cleanUp: Suite['cleanUp']) => Promise<Endpoints>): Suite {
  let parts: Pick<Suite, 'endpoints' | 'tenant' | 'peer'> | undefined
  const things: { stop(): Promise<void> }[] = []
  const cleanUp: Suite['cleanUp'] = (thing) => {
    things.push(thing)
    return thing
  }
  beforeAll(async () => {
    const endpoints = await open(cleanUp)
    const [tenant, peer] = await Promise.all([createTenant(endpoints), openPeer(endpoints)])
    parts = { endpoints, tenant, peer }
    things.push(peer)
  }, START_TIMEOUT)
  afterAll(async () => {
    for (const thing of things.toReversed()) await thing.stop()
  }, START_TIMEOUT)
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
    cleanUp,
  }
}
