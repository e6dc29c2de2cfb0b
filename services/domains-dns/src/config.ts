import {
  callerVariables,
  configurationOf,
  cursorVariables,
  dnsVariables,
  encryptionVariables,
  outboundVariables,
  redisVariables,
  sharedDomainVariables,
} from '@restante/kit'
import { confidential, env } from '@restante/service/configuration'
import { z } from 'zod'
import { acmeVariables } from './certificates/variables.ts'
import { checkVariables } from './checks/variables.ts'
import { setupVariables } from './setup/variables.ts'

/** A host name in its compared form: lower case, without a dot at its end. */
const host = env.string().transform((text) => text.toLowerCase().replace(/\.$/, ''))
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const label = (usual: string) =>
  env.string().default(usual).pipe(z.string().regex(LABEL, 'must be one label of a DNS name'))

const variables = z.object({
  MX_HOST: host.describe('Host that accepts mail for custom domains: the target of their MX records'),
  RETURN_HOST: host.optional().describe('Host that accepts reports about mail of custom domains; default: MX_HOST'),
  SPF_INCLUDE: host.describe('Name whose TXT record lists the addresses that mail leaves from (RFC 7208)'),
  CUSTOM_DKIM_SELECTOR: label('svc1').describe(
    'Selector of the keys of custom domains; those that are registered keep theirs',
  ),
  RETURN_PATH_LABEL: label('mail').describe('Label below a custom domain to which its mail returns'),
  TRACKING_HOST: host
    .optional()
    .describe('Host that serves the images that tell of opening; without it no domain can have them'),
  PREVIOUS_ENCRYPTION_KEYS: confidential(env.list()).describe(
    'Earlier values of ENCRYPTION_KEY: what they encrypted is still read, and encrypted anew when written',
  ),
  ALLOW_SPECIAL_USE_DOMAINS: env
    .flag()
    .describe('Accept domains below names such as .test and .internal; for local runs'),
})

export const configuration = configurationOf('domains-dns', {
  peers: ['gateway', 'mail-ingest', 'mail-send', 'metrics'],
})
  .with(callerVariables)
  .with(redisVariables)
  .with(cursorVariables)
  .with(encryptionVariables)
  .with(outboundVariables)
  .with(dnsVariables)
  .with(sharedDomainVariables)
  .with(acmeVariables)
  .with(checkVariables)
  .with(setupVariables)
  .with({
    variables,
    configure: (given) => ({
      installation: {
        mxHost: given.MX_HOST,
        returnHost: given.RETURN_HOST ?? given.MX_HOST,
        spfInclude: given.SPF_INCLUDE,
        selector: given.CUSTOM_DKIM_SELECTOR,
        returnPathLabel: given.RETURN_PATH_LABEL,
        trackingHost: given.TRACKING_HOST,
      },
      previousEncryptionKeys: given.PREVIOUS_ENCRYPTION_KEYS,
      allowSpecialUse: given.ALLOW_SPECIAL_USE_DOMAINS,
    }),
  })
