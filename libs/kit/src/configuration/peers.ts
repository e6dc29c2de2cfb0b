import { type ServiceName, variablePart } from '@restante/contracts/vocabulary'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

/** The address of another service, and the key that it shares with this one. */
export interface PeerAddress {
  /** Base URL inside the installation: `http://mail-ingest:3001`. */
  readonly url: string
  readonly key: string
}

/** The services that a service calls or is called by. */
export class Peers<P extends ServiceName = ServiceName> {
  readonly #addresses: ReadonlyMap<ServiceName, PeerAddress>

  constructor(addresses: ReadonlyMap<P, PeerAddress>) {
    this.#addresses = addresses
  }

  /** The names of the peers. */
  get names(): readonly ServiceName[] {
    return [...this.#addresses.keys()]
  }

  /** @throws Error when the configuration does not declare the service as a peer. */
  of(name: ServiceName): PeerAddress {
    const address = this.#addresses.get(name)
    if (address === undefined) throw new Error(`the configuration does not declare ${name} as a peer`)
    return address
  }

  /** The key that each peer shares with this service, which verifies the tokens of the peer. */
  get keys(): Readonly<Partial<Record<ServiceName, string>>> {
    return Object.fromEntries([...this.#addresses].map(([name, { key }]) => [name, key]))
  }
}

/** The two variables of each peer: its address and the shared key. */
export function peerVariables(names: readonly ServiceName[]): z.ZodType<Record<string, string>> & z.ZodObject {
  const shape: Record<string, z.ZodType<string, string | undefined>> = {}
  for (const name of names) {
    shape[urlOf(name)] = env.url().describe(`Base URL of ${name} inside the installation`)
    shape[keyOf(name)] = env.secret().describe(`Key shared with ${name} for the calls between the two`)
  }
  return z.object(shape)
}

/** The peers as `peerVariables` read them. */
export function peersOf<P extends ServiceName>(names: readonly P[], given: Readonly<Record<string, string>>): Peers<P> {
  return new Peers(new Map(names.map((name) => [name, { url: value(urlOf(name)), key: value(keyOf(name)) }])))

  function value(variable: string): string {
    const text = given[variable]
    if (text === undefined) throw new Error(`${variable} was not read`)
    return text
  }
}

function urlOf(name: ServiceName): string {
  return `${variablePart(name)}_URL`
}

function keyOf(name: ServiceName): string {
  return `PEER_KEY_${variablePart(name)}`
}
