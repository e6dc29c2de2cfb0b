export { callerHeaders, callerOf, peerHeaders } from './callers.ts'
export { type CollectedRecord, collectTopic, type TopicCollection } from './collect-topic.ts'
export { createDatabase, type TestDatabase, urlOf } from './database.ts'
export { DnsZone, type ZoneRecord, type ZoneRule } from './dns-zone.ts'
export { engines } from './engines.ts'
export {
  credentialDeletedEvent,
  deliveredEvent,
  EventPublisher,
  type InboxScope,
  inboxDeletedEvent,
  inboxScope,
  organizationDeletedEvent,
  organizationTakenOverEvent,
  podDeletedEvent,
  receivedEvent,
} from './events.ts'
export { createOrganization, GATEWAY_KEYS, GatewayProcess } from './gateway-process.ts'
export { underLoad } from './machine-load.ts'
export { MailPeer, type MailPeerOptions, type PeerAnswer, type ReceivedMail } from './mail-peer.ts'
export { randomName } from './random.ts'
export { openRedis, type TestRedis } from './redis.ts'
export { countRows, queryRows } from './rows.ts'
export { type Submission, sendMail } from './send-mail.ts'
export { freePort, startService } from './services.ts'
export { type SlowAnswer, slowRequest } from './slow-request.ts'
export { type SmtpReply, SmtpSession } from './smtp-session.ts'
export { type Frame, HandshakeRefusedError, StreamClient } from './stream-client.ts'
export { byLength } from './test-length.ts'
export { createTopics, type TestTopics, testKafka, topicPrefix } from './topics.ts'
export { type WaitOptions, waitFor } from './wait-for.ts'
export { verifyWebhook, type WebhookAnswer, WebhookReceiver, type WebhookRequest } from './webhook-receiver.ts'
