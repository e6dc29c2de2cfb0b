/** Names of the installation that the records of custom domains point to; lower case, without a dot at the end. */
export interface Installation {
  /** Target of the MX records. */
  readonly mxHost: string
  /** Target of the MX record of the return path. */
  readonly returnHost: string
  /** Name that the SPF record includes. */
  readonly spfInclude: string
  /** Selector of new signing keys. */
  readonly selector: string
  /** Label of the return path below a domain. */
  readonly returnPathLabel: string
  /** Target of the CNAME for the images that tell of opening; undefined where the installation serves none. */
  readonly trackingHost: string | undefined
}
