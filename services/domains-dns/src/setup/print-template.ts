/**
 * Prints what an installation gives to DNS providers and publishes for setup links: `npm run domain-connect -- template`
 * and `npm run domain-connect -- key`, with the environment of domains-dns.
 */

import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { messageOf } from '@restante/service/errors'
import { configuration } from '../config.ts'
import { SetupKey } from './apply/key.ts'
import { templateOf } from './apply/template.ts'

const USAGE = `usage: npm run domain-connect -- template [--provider-name NAME] [--service-name NAME]
       npm run domain-connect -- key
  template  prints the template that DNS providers take up, to be stored as <providerId>.<serviceId>.json
  key       prints the TXT records that publish the key of setup links, as lines of a zone file

It needs DOMAIN_CONNECT_PROVIDER_ID, DOMAIN_CONNECT_SERVICE_ID, DOMAIN_CONNECT_KEY_DOMAIN and, for key,
DOMAIN_CONNECT_KEY or DOMAIN_CONNECT_KEY_FILE.

Exit codes: 0 printed; 1 the configuration lacks something; 2 usage error.`

const EXIT = { done: 0, refused: 1, misused: 2 } as const
const KEY_TTL = 3_600

type Config = ReturnType<typeof configuration.read>

class UsageError extends Error {}

/** @throws Error naming what the configuration lacks. */
function templateText(config: Config, names: { readonly provider: string; readonly service: string }): string {
  const { template, keyDomain } = config.setup
  if (template === undefined) throw new Error('DOMAIN_CONNECT_PROVIDER_ID and DOMAIN_CONNECT_SERVICE_ID are missing')
  const description = {
    ...template,
    providerName: names.provider,
    serviceName: names.service,
    keyDomain: requireKeyDomain(keyDomain),
    returnHost: new URL(config.publicUrl).hostname,
  }
  return JSON.stringify(templateOf(config.installation, description), undefined, 2)
}

/** @throws Error naming what the configuration lacks. */
async function keyText({ setup }: Config): Promise<string> {
  const { key, keyLabel, keyDomain } = setup
  if (key === undefined) throw new Error('DOMAIN_CONNECT_KEY or DOMAIN_CONNECT_KEY_FILE is missing')
  const pair = new SetupKey('pem' in key ? key.pem : await readFile(key.file, 'utf8'))
  const name = `${keyLabel}.${requireKeyDomain(keyDomain)}.`
  return pair
    .published()
    .map((text) => `${name} ${KEY_TTL} IN TXT "${text}"`)
    .join('\n')
}

function requireKeyDomain(keyDomain: string | undefined): string {
  if (keyDomain === undefined) throw new Error('DOMAIN_CONNECT_KEY_DOMAIN is missing')
  return keyDomain
}

async function textAskedFor(): Promise<string> {
  const { word, help, provider, service } = wordsGiven()
  if (help) return USAGE
  switch (word) {
    case 'template':
      return templateText(configuration.read(process.env), { provider, service })
    case 'key':
      return keyText(configuration.read(process.env))
    default:
      throw new UsageError(USAGE)
  }
}

function wordsGiven() {
  const options = {
    'provider-name': { type: 'string', default: 'Restante' },
    'service-name': { type: 'string', default: 'Mail' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const [word, ...more] = positionals
    if (more.length > 0) throw new Error(`Unexpected: ${more.join(' ')}`)
    return { word, help: values.help, provider: values['provider-name'], service: values['service-name'] }
  } catch (error) {
    throw new UsageError(`${messageOf(error)}\n\n${USAGE}`)
  }
}

try {
  process.stdout.write(`${await textAskedFor()}\n`)
  process.exitCode = EXIT.done
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = error instanceof UsageError ? EXIT.misused : EXIT.refused
}
