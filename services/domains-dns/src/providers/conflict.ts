import type { Resolvers } from '../dns/resolvers.ts'
import { MAILBOX_PROVIDERS, type MailboxProvider } from './table.ts'

/**
 * Finds the mailbox provider that the MX records of a name point to (domains 6). The search is advisory: when DNS gives
 * no answer there is no conflict.
 * @param name lower case, in A-labels; records of its parents do not count.
 * @returns the display name of the provider.
 */
export async function findConflictingProvider(
  dns: Pick<Resolvers, 'resolve'>,
  name: string,
  providers: readonly MailboxProvider[] = MAILBOX_PROVIDERS,
): Promise<string | undefined> {
  const records = await dns.resolve(name, 'MX').catch(() => [])
  return records.map(({ exchange }) => providerOf(exchange, providers)).find((found) => found !== undefined)
}

/** Display name of the mailbox provider that an MX host belongs to. */
export function providerOf(exchange: string, providers: readonly MailboxProvider[]): string | undefined {
  const host = exchange.toLowerCase().replace(/\.$/, '')
  return providers.find(({ suffixes }) => suffixes.some((suffix) => isBelow(host, suffix)))?.name
}

/** Whether a host is the suffix or below it: `notgoogle.com` is not below `google.com`. */
function isBelow(host: string, suffix: string): boolean {
  return host === suffix || host.endsWith(`.${suffix}`)
}
