export { arrivalsConsumer } from './consumers.ts'
export { applyInvitations, type ReceivedInvitationsOptions } from './received.ts'
