/** The package works on plain Node requests and responses; its published types support Express only. */
declare module 'compression' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Options {
    /** Bodies below this many bytes are not compressed. */
    readonly threshold?: number
  }

  export default function compression(
    options?: Options,
  ): (request: IncomingMessage, response: ServerResponse, next: () => void) => void
}
