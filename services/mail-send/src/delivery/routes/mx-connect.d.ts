/** The part of mx-connect that this service uses; the package has no types of its own. */
declare module 'mx-connect' {
  import type { X509Certificate } from 'node:crypto'
  import type { Socket } from 'node:net'

  /** RFC 6698 2.1. */
  export interface TlsaRecord {
    readonly usage: number
    readonly selector: number
    readonly mtype: number
    readonly cert: Buffer
  }

  export interface DaneOptions {
    readonly enabled: true
    readonly checkDnssecSecure: (host: string) => Promise<{ readonly secure: boolean }>
    readonly resolveTlsa: (name: string) => Promise<readonly TlsaRecord[]>
  }

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
    readonly dane?: DaneOptions
  }

  export interface MxConnection {
    readonly socket: Socket
    /** Name of the MX host. */
    readonly hostname: string
    /** Address to connect to. */
    readonly host: string
    readonly port: number
    /** With DANE; empty where the host has none that are secure. */
    readonly tlsaRecords?: readonly TlsaRecord[] | null
  }

  interface MxConnect {
    (options: MxConnectOptions): Promise<MxConnection>
    readonly dane: {
      readonly verifyCertAgainstTlsa: (
        certificate: X509Certificate,
        records: readonly TlsaRecord[],
        issuers?: readonly X509Certificate[],
      ) => { readonly valid: boolean }
    }
  }

  const mxConnect: MxConnect
  export default mxConnect
}
