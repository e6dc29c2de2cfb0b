import { createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { DkimKeys } from '@restante/mime'
import type { Config } from '../../config.ts'

/**
 * The keys that sign for the default domain and all other shared ones, where the configuration names any.
 * @throws Error when a file cannot be read or holds another key: unsigned mail must not go out where signed mail was
 *   ordered.
 */
export async function readDkimKeys({
  dkim,
  defaultDomain,
}: Pick<Config, 'dkim' | 'defaultDomain'>): Promise<DkimKeys | undefined> {
  if (dkim.length === 0) return undefined
  const keys = await Promise.all(
    dkim.map(async ({ type, selector, keyFile }) => {
      const privateKey = createPrivateKey(await readFile(keyFile, 'utf8'))
      const found = privateKey.asymmetricKeyType
      if (found !== type) throw new Error(`${keyFile} holds a key of type ${found}; ${selector} needs ${type}`)
      return { selector, privateKey }
    }),
  )
  return { domain: defaultDomain, keys }
}
