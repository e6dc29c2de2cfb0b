import type { UnsubscribeAddress } from './unsubscribe-address.ts'
import type { UnsubscribeLink } from './unsubscribe-link.ts'

/** The fields by which the recipient of a delivery unsubscribes (RFC 2369, RFC 8058), each with its line break. */
export function unsubscribeFields(
  { link, address }: { readonly link: UnsubscribeLink; readonly address: UnsubscribeAddress },
  deliveryId: string,
): string {
  const targets = [link.linkFor(deliveryId), `mailto:${address.addressFor(deliveryId)}?subject=unsubscribe`]
  return [
    `List-Unsubscribe: ${targets.map((target) => `<${target}>`).join(',\r\n ')}\r\n`,
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n',
  ].join('')
}
