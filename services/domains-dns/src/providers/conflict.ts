import { MAILBOX_PROVIDERS, type MailboxProvider } from './table.ts'

/** The question that the search asks DNS. It fails as `node:dns` does. */
export interface MxLookup {
  resolveMx(name: string): Promise<readonly { readonly exchange: string }[]>
}

/**
 * Finds the mailbox provider that the MX records of a name point to (domains 6). The search is advisory: when DNS gives
 * no answer there is no conflict.
 * @param name lower case, in A-labels; records of its parents do not count.
 * @returns the display name of the provider.
 */
export async function findConflictingProvider(
  dns: MxLookup,
  name: string,
  providers: readonly MailboxProvider[] = MAILBOX_PROVIDERS,
): Promise<string | undefined> {
  const records = await dns.resolveMx(name).catch(() => [])
  return records.map(({ exchange }) => providerOf(exchange, providers)).find((found) => found !== undefined)
}

function providerOf(exchange: string, providers: readonly MailboxProvider[]): string | undefined {
  const host = exchange.toLowerCase().replace(/\.$/, '')
  return providers.find(({ suffixes }) => suffixes.some((suffix) => isBelow(host, suffix)))?.name
}

/** Whether a host is the suffix or below it: `notgoogle.com` is not below `google.com`. */
function isBelow(host: string, suffix: string): boolean {
  return host === suffix || host.endsWith(`.${suffix}`)
}
