import { DeliveryAddress, type DeliveryAddressOptions } from './delivery-address.ts'

/**
 * The envelope sender of outgoing mail. Reports return to it, so that each is about exactly one delivery, and a report
 * about another sender's mail cannot be forged.
 */
export class ReturnPath extends DeliveryAddress {
  constructor(options: DeliveryAddressOptions) {
    super(options, { letter: 'b', purpose: 'return path' })
  }
}
