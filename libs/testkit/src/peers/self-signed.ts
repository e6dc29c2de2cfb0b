import { generate } from 'selfsigned'

/** A certificate of a host that signs itself, with its key, both in PEM. */
export interface SelfSigned {
  readonly certificate: string
  readonly privateKey: string
}

/** Makes a certificate for a host; a client that trusts it as an authority accepts the host. */
export async function selfSigned(host: string): Promise<SelfSigned> {
  const made = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    curve: 'P-256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
  })
  return { certificate: made.cert, privateKey: made.private }
}
