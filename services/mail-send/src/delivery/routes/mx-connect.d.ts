/** The part of mx-connect that this service uses; the package has no types of its own. */
declare module 'mx-connect' {
  import type { Socket } from 'node:net'

  export interface MxConnectOptions {
    readonly target: string
    readonly port?: number
    readonly maxConnectTime?: number
    readonly localHostname?: string
    /** Addresses that were tried and are to be skipped. */
    readonly ignoreMXHosts?: readonly string[]
    readonly dnsOptions?: {
      readonly blockLocalAddresses?: boolean
      readonly blockReservedNetworks?: boolean
      readonly resolveRecords?: (name: string, type: string) => Promise<unknown>
    }
  }

  export interface MxConnection {
    readonly socket: Socket
    /** Name of the MX host. */
    readonly hostname: string
    /** Address to connect to. */
    readonly host: string
    readonly port: number
  }

  export default function mxConnect(options: MxConnectOptions): Promise<MxConnection>
}
