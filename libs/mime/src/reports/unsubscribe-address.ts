import { DeliveryAddress, type DeliveryAddressOptions } from './delivery-address.ts'

/**
 * The `mailto` address of a List-Unsubscribe field (RFC 2369 3.2): any mail to it asks that the recipient of the
 * delivery get no more. It differs from the return path, which servers and filters on the way see and may write to.
 */
export class UnsubscribeAddress extends DeliveryAddress {
  constructor(options: DeliveryAddressOptions) {
    super(options, { letter: 'u', purpose: 'unsubscribe' })
  }
}
