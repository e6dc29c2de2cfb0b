/** The port of https. */
export const HTTPS_PORT = 443

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** A segment begins with no dot, so that no path leads upwards. */
const SEGMENT = '[a-z0-9_~-][a-z0-9._~-]*'
/** Host and path of plain characters: no scheme, user, port, query, fragment or percent-encoding. */
const PREFIX = new RegExp(`^(?<host>${LABEL}(?:\\.${LABEL})*)(?<path>(?:/${SEGMENT})*)/?$`, 'i')
const PREFIX_LENGTH = 512

/**
 * URL of the settings of a zone at the provider that its `_domainconnect` record names.
 * @param prefix text of the record, which anybody may have written.
 * @param zone lower case, in A-labels.
 * @returns undefined when the record is more than a host and a path.
 */
export function settingsUrl(prefix: string, zone: string, port: number): string | undefined {
  const { host, path } = (prefix.length <= PREFIX_LENGTH && PREFIX.exec(prefix)?.groups) || {}
  if (host === undefined) return undefined
  return `https://${host}${port === HTTPS_PORT ? '' : `:${port}`}${path ?? ''}/v2/${zone}/settings`
}

/**
 * A URL prefix from the settings of a provider, without a slash at its end.
 * @returns undefined unless it is https, without user, query and fragment.
 */
export function urlPrefix(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && !/[?#]/.test(text)
  return url.protocol === 'https:' && isPlain ? url.href.replace(/\/+$/, '') : undefined
}

/** Whether a URL leads to this port. */
export function isOnPort(url: string, port: number): boolean {
  const given = new URL(url).port
  return (given === '' ? HTTPS_PORT : Number(given)) === port
}
