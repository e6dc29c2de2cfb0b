import type { DaneOptions, TlsaRecord } from 'mx-connect'
import type { SecureDns } from './secure-dns.ts'

/** Looks for TLSA records where, and only where, DNSSEC says that they are those of the domain (RFC 7672 2.2). */
export class Dane {
  readonly #dns: SecureDns

  constructor(dns: SecureDns) {
    this.#dns = dns
  }

  /** How the hosts of a domain are looked up. A look-up that fails keeps mail from the host. */
  optionsFor(domain: string): DaneOptions {
    let mx: Promise<boolean> | undefined
    return {
      enabled: true,
      checkDnssecSecure: async (host) => {
        mx ??= this.#dns.ask(domain, 'MX').then(({ secure }) => secure)
        return { secure: (await mx) && (await this.#isSecure(host)) }
      },
      resolveTlsa: async (name) => {
        const { secure, records } = await this.#dns.ask(name, 'TLSA')
        return secure ? records.flatMap(recordOf) : []
      },
    }
  }

  /** Of a host without an address of the one type the other type is asked for. */
  async #isSecure(host: string): Promise<boolean> {
    const { secure } = await this.#dns.ask(host, 'A')
    return secure || (await this.#dns.ask(host, 'AAAA')).secure
  }
}

function recordOf(data: Buffer): TlsaRecord[] {
  const [usage, selector, mtype] = data
  if (usage === undefined || selector === undefined || mtype === undefined) return []
  return [{ usage, selector, mtype, cert: data.subarray(3) }]
}
