export { domainsConsumer } from './consumer.ts'
export { DomainLookup } from './lookup.ts'
export { type Registration, type RegistrationState, registrations } from './registrations.ts'
export { registrableNames, registrationOf } from './rules.ts'
