/** A mailbox provider, and the domains that the MX hosts of its customers are below. */
export interface MailboxProvider {
  /** As people know it. */
  readonly name: string
  /** Lower case, without a dot at either end. */
  readonly suffixes: readonly string[]
}

/** Mailbox providers whose customers would lose mail if their MX records were replaced (domains 6). */
export const MAILBOX_PROVIDERS: readonly MailboxProvider[] = [
  { name: 'Google Workspace', suffixes: ['google.com', 'googlemail.com'] },
  { name: 'Microsoft 365', suffixes: ['mail.protection.outlook.com', 'mx.microsoft'] },
  {
    name: 'Zoho Mail',
    suffixes: ['zoho.com', 'zoho.eu', 'zoho.in', 'zoho.com.au', 'zoho.jp', 'zohomail.com'],
  },
  { name: 'Fastmail', suffixes: ['messagingengine.com'] },
  { name: 'Proton Mail', suffixes: ['protonmail.ch'] },
  { name: 'iCloud Mail', suffixes: ['mail.icloud.com'] },
  { name: 'Yahoo / AOL', suffixes: ['yahoodns.net'] },
  { name: 'Yandex 360', suffixes: ['mx.yandex.net', 'mx.yandex.ru'] },
  { name: 'Rackspace Email', suffixes: ['emailsrvr.com'] },
  { name: 'GoDaddy Email', suffixes: ['secureserver.net'] },
  { name: 'Namecheap Private Email', suffixes: ['privateemail.com', 'registrar-servers.com'] },
  { name: 'IONOS', suffixes: ['kundenserver.de', 'ionos.com', '1and1.com'] },
  { name: 'Titan', suffixes: ['titan.email'] },
  { name: 'Migadu', suffixes: ['migadu.com'] },
  { name: 'Hostinger', suffixes: ['hostinger.com'] },
  { name: 'Gandi', suffixes: ['gandi.net'] },
  { name: 'OVHcloud', suffixes: ['mail.ovh.net'] },
  { name: 'Mimecast', suffixes: ['mimecast.com'] },
  { name: 'Proofpoint', suffixes: ['pphosted.com', 'ppe-hosted.com'] },
]

const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/**
 * Reads further providers from a variable: `Name=suffix,suffix;Name=suffix`.
 * @returns undefined when the text has another form.
 */
export function parseProviders(text: string): readonly MailboxProvider[] | undefined {
  const providers = text
    .split(';')
    .filter((part) => part.trim() !== '')
    .map(parseProvider)
  return providers.some((provider) => provider === undefined) ? undefined : providers.filter(isProvider)
}

function parseProvider(text: string): MailboxProvider | undefined {
  const [name = '', list = '', ...more] = text.split('=').map((part) => part.trim())
  const suffixes = list.split(',').map((suffix) =>
    suffix
      .trim()
      .toLowerCase()
      .replace(/^\.|\.$/g, ''),
  )
  return name === '' || more.length > 0 || !suffixes.every((suffix) => HOST.test(suffix))
    ? undefined
    : { name, suffixes }
}

function isProvider(provider: MailboxProvider | undefined): provider is MailboxProvider {
  return provider !== undefined
}
