export { DomainLookup } from './lookup.ts'
export { type DomainsProjectionOptions, domainsProjection } from './projection.ts'
export { type Registration, type RegistrationState, registrations } from './registrations.ts'
export { registrableNames, registrationOf, type Standing, standingOf } from './rules.ts'
