/** The part of mx-connect that this service uses; the package has no types of its own. */
declare module 'mx-connect' {
  import type { Socket } from 'node:net'

  export interface MxConnectOptions {
    readonly target: string
    readonly port?: number
    readonly maxConnectTime?: number
    readonly localHostname?: string
    /** Addresses that were tried and are to be passed over. */
    readonly ignoreMXHosts?: readonly string[]
    readonly dnsOptions?: {
      readonly blockLocalAddresses?: boolean
      readonly blockReservedNetworks?: boolean
      readonly resolveRecords?: (name: string, type: string) => Promise<unknown>
    }
  }

  export interface MxConnection {
    readonly socket: Socket
    /** Name of the exchange. */
    readonly hostname: string
    /** Address that the connection goes to. */
    readonly host: string
    readonly port: number
  }

  export default function mxConnect(options: MxConnectOptions): Promise<MxConnection>
}
