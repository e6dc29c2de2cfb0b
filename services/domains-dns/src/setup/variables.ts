import { together } from '@restante/kit'
import { env } from '@restante/service/configuration'
import { z } from 'zod'
import { MAILBOX_PROVIDERS, parseProviders } from '../providers/table.ts'
import { HTTPS_PORT } from './discovery/urls.ts'

/** What a template may be called (Domain Connect): it is a part of paths and file names. */
const id = env.string().pipe(z.string().regex(/^[\w.-]{1,64}$/, 'must be up to 64 of letters, digits and . _ -'))
/** Providers look for the key at this label, which may begin with an underscore. */
const keyLabel = env
  .string('_dck1')
  .pipe(z.string().regex(/^_?[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$/, 'must be one label of a DNS name'))

const variables = z.object({
  CONFLICTING_PROVIDERS: env
    .string()
    .optional()
    .transform((text, context) => {
      const providers = parseProviders(text ?? '')
      if (providers !== undefined) return providers
      context.addIssue({ code: 'custom', message: 'must have the form Name=suffix,suffix;Name=suffix' })
      return z.NEVER
    })
    .describe('Further mailbox providers, by the suffixes of their MX hosts: `Name=suffix,suffix;Name=suffix`'),
  DOMAIN_CONNECT_PROVIDER_ID: id
    .optional()
    .describe('providerId of the template of this installation at DNS providers; without it no setup link is offered'),
  DOMAIN_CONNECT_SERVICE_ID: id.optional().describe('serviceId of that template'),
  DOMAIN_CONNECT_KEY: env
    .secret()
    .optional()
    .describe('Private key (RSA, PEM) that signs setup links; or DOMAIN_CONNECT_KEY_FILE'),
  DOMAIN_CONNECT_KEY_FILE: env.string().optional().describe('PEM file of that key'),
  DOMAIN_CONNECT_KEY_LABEL: keyLabel.describe('Label below DOMAIN_CONNECT_KEY_DOMAIN at which the key is published'),
  DOMAIN_CONNECT_KEY_DOMAIN: env
    .string()
    .optional()
    .describe('syncPubKeyDomain of the template: the domain below which the key is published'),
  DOMAIN_CONNECT_PROVIDERS: env
    .list()
    .describe('providerIds of the DNS providers for which setup links are offered; default: all'),
  DOMAIN_CONNECT_PORT: env
    .port(HTTPS_PORT)
    .describe('Port of requests to DNS providers; another one needs ALLOW_LOOPBACK_URLS, for local runs'),
  DOMAIN_CONNECT_CA_FILE: env
    .string()
    .optional()
    .describe('PEM file of the authorities that DNS providers are trusted by, instead of the public ones'),
})
type Given = z.output<typeof variables>

/** One-click setup of domains, and the search for mailbox providers. */
export const setupVariables = {
  variables,
  check: (given: Given & { readonly ALLOW_LOOPBACK_URLS: boolean }) => [
    ...together(given, 'DOMAIN_CONNECT_PROVIDER_ID', 'DOMAIN_CONNECT_SERVICE_ID'),
    ...keyProblems(given),
    ...(given.DOMAIN_CONNECT_PORT !== HTTPS_PORT && !given.ALLOW_LOOPBACK_URLS
      ? [`DOMAIN_CONNECT_PORT must be ${HTTPS_PORT} unless ALLOW_LOOPBACK_URLS is true`]
      : []),
  ],
  configure: (given: Given) => ({
    mailboxProviders: [...given.CONFLICTING_PROVIDERS, ...MAILBOX_PROVIDERS],
    setup: {
      template: templateOf(given),
      key: keyOf(given),
      keyLabel: given.DOMAIN_CONNECT_KEY_LABEL,
      keyDomain: given.DOMAIN_CONNECT_KEY_DOMAIN?.toLowerCase().replace(/\.$/, ''),
      acceptedProviders: given.DOMAIN_CONNECT_PROVIDERS,
      port: given.DOMAIN_CONNECT_PORT,
      caFile: given.DOMAIN_CONNECT_CA_FILE,
    },
  }),
}

function keyProblems(given: Given): string[] {
  const { DOMAIN_CONNECT_KEY: text, DOMAIN_CONNECT_KEY_FILE: file } = given
  if (text !== undefined && file !== undefined)
    return ['DOMAIN_CONNECT_KEY must not be given together with DOMAIN_CONNECT_KEY_FILE']
  const hasKey = text !== undefined || file !== undefined
  return hasKey && given.DOMAIN_CONNECT_PROVIDER_ID === undefined
    ? ['DOMAIN_CONNECT_PROVIDER_ID is missing: it must be given together with the key of setup links']
    : []
}

function templateOf({ DOMAIN_CONNECT_PROVIDER_ID: providerId, DOMAIN_CONNECT_SERVICE_ID: serviceId }: Given) {
  return providerId === undefined || serviceId === undefined ? undefined : { providerId, serviceId }
}

/** The key itself, or the file that holds it. */
function keyOf({ DOMAIN_CONNECT_KEY: pem, DOMAIN_CONNECT_KEY_FILE: file }: Given) {
  if (pem !== undefined) return { pem }
  return file === undefined ? undefined : { file }
}
