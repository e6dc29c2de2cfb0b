declare module 'maildev' {
  /** Starts MailDev with the options of its command line. */
  function maildev(options: {
    readonly ip: string
    readonly smtp: number
    readonly webIp: string
    readonly web: number
    readonly mailDirectory: string
  }): { listen(): void }
  export default maildev
}

declare module 'maildev/lib/web.js' {
  import type { Server } from 'node:http'

  const web: { readonly server: Server | null }
  export default web
}
