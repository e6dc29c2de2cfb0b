/** Domains of the mailbox providers that receive most mail, by the name under which their outcomes are counted. */
const DOMAINS: Readonly<Record<string, readonly string[]>> = {
  apple: ['icloud.com', 'mac.com', 'me.com'],
  comcast: ['comcast.net'],
  gmx: ['gmx.at', 'gmx.ch', 'gmx.com', 'gmx.de', 'gmx.net', 'web.de'],
  google: ['gmail.com', 'googlemail.com'],
  mail_ru: ['bk.ru', 'inbox.ru', 'list.ru', 'mail.ru'],
  microsoft: ['hotmail.com', 'hotmail.co.uk', 'hotmail.fr', 'live.com', 'msn.com', 'outlook.com'],
  netease: ['126.com', '163.com', 'yeah.net'],
  orange: ['orange.fr', 'wanadoo.fr'],
  proton: ['pm.me', 'proton.me', 'protonmail.com'],
  qq: ['foxmail.com', 'qq.com'],
  yahoo: ['aol.com', 'rocketmail.com', 'yahoo.co.jp', 'yahoo.co.uk', 'yahoo.com', 'yahoo.fr', 'ymail.com'],
  yandex: ['ya.ru', 'yandex.com', 'yandex.ru'],
}

const BY_DOMAIN: ReadonlyMap<string, string> = new Map(
  Object.entries(DOMAINS).flatMap(([provider, domains]) => domains.map((domain) => [domain, provider] as const)),
)

/** Every answer of `providerOf`. */
export const PROVIDERS: readonly string[] = [...Object.keys(DOMAINS), 'other']

/** The provider of a domain, or `other`: a label of few values, whatever recipients callers name. */
export function providerOf(domain: string): string {
  return BY_DOMAIN.get(domain) ?? 'other'
}
