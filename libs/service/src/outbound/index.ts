export { AddressPolicy, type AllowedAddresses } from './address-policy.ts'
export {
  OutboundNetworkError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLargeError,
  OutboundUnavailableError,
  type RefusalReason,
} from './errors.ts'
export {
  GuardedFetch,
  type GuardedFetchOptions,
  type OutboundRequest,
  type OutboundResponse,
} from './guarded-fetch.ts'
