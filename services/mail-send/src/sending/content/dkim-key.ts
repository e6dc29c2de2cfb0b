import { readFile } from 'node:fs/promises'
import type { DkimKey } from '@restante/mime'
import type { Config } from '../../config.ts'

/**
 * The key that signs for the default domain, where the configuration names one.
 * @throws Error when the file cannot be read: unsigned mail must not go out where signed mail was ordered.
 */
export async function readDkimKey({
  dkim,
  defaultDomain,
}: Pick<Config, 'dkim' | 'defaultDomain'>): Promise<DkimKey | undefined> {
  if (!dkim) return undefined
  return { domain: defaultDomain, selector: dkim.selector, privateKey: await readFile(dkim.keyFile, 'utf8') }
}
