/** The certificate authority of the installation, reached by ACME (RFC 8555). */
export interface AcmeSettings {
  /** URL of its directory. */
  readonly directory: string
  /** Mail address of the account. */
  readonly contact: string | undefined
  /** The account at the authority that the ACME account is bound to (RFC 8555 7.3.4). */
  readonly externalAccount: { readonly kid: string; readonly hmacKey: string } | undefined
  /** PEM file of additional roots for TLS connections to the authority. */
  readonly caFile: string | undefined
  /** Most orders of the installation in an hour. */
  readonly ordersPerHour: number
}
