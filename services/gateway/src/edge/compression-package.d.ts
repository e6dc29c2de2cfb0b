/** The package works on plain Node requests and responses; its published types know Express only. */
declare module 'compression' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Options {
    /** Bodies below this many bytes are sent as they are. */
    readonly threshold?: number
  }

  export default function compression(
    options?: Options,
  ): (request: IncomingMessage, response: ServerResponse, next: () => void) => void
}
