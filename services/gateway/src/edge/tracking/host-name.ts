import { TRACKING_LABEL } from '@restante/contracts/vocabulary'

/** Below a domain, which has at least two labels. */
const HOST = new RegExp(`^${TRACKING_LABEL}(\\.[a-z0-9-]{1,63}){2,}$`)
const HOST_LENGTH = 253

/** The compared form of a name; undefined when no tracking host has such a name, so that its owner need not be asked. */
export function trackingHostName(name: string): string | undefined {
  const host = name.toLowerCase()
  return host.length <= HOST_LENGTH && HOST.test(host) ? host : undefined
}
