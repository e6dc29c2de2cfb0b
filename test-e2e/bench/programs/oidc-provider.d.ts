/** The part of oidc-provider that the bench uses: the package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  interface Stored {
    /** Stores it. @returns its value, which a client gets. */
    save(): Promise<string>
  }

  class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    readonly Client: { find(id: string): Promise<object | undefined> }
    readonly Grant: new (
      payload: object,
    ) => Stored & { addOIDCScope(scope: string): void }
    readonly AuthorizationCode: new (
      payload: object,
    ) => Stored
  }

  export default Provider
}
