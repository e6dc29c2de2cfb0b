export {
  byLength,
  freePort,
  growthOf,
  MOST_GROWTH,
  PATIENCE_MS,
  processorMs,
  sampleByLength,
} from '@restante/service/testing'
export { type Grant, grant } from './engines/acls.ts'
export { type CollectedRecord, collectTopic, type TopicCollection } from './engines/collect-topic.ts'
export { createDatabase, type TestDatabase, urlOf } from './engines/database.ts'
export { databaseEnvironment, engines } from './engines/engines.ts'
export { randomName } from './engines/random.ts'
export { openRedis, type TestRedis } from './engines/redis.ts'
export { countRows, queryRows } from './engines/rows.ts'
export { createTopics, type TestTopics, testKafka, topicPrefix } from './engines/topics.ts'
export { Metrics, type Series } from './metrics/metrics.ts'
export { DnsZone, type ZoneRecord, type ZoneRule } from './peers/dns/dns-zone.ts'
export { KnotServer, UnboundResolver } from './peers/dns/name-servers.ts'
export { type ConnectTemplate, DomainConnectProvider } from './peers/domain-connect-provider.ts'
export { type Conduct as ClamdConduct, FakeClamd } from './peers/fake-clamd.ts'
export { Pebble, type PebbleOptions } from './peers/pebble.ts'
export { PolicyHost } from './peers/policy-host.ts'
export { describeAtFullLength, describeWith, isInstalled, type Needs } from './peers/programs.ts'
export { missingPython, pythonEnvironment } from './peers/python.ts'
export { type SelfSigned, selfSigned } from './peers/self-signed.ts'
export { type SlowAnswer, slowRequest } from './peers/slow-request.ts'
export { MailPeer, type MailPeerOptions, type PeerAnswer, type ReceivedMail } from './peers/smtp/mail-peer.ts'
export { type Submission, sendMail } from './peers/smtp/send-mail.ts'
export { type SmtpReply, SmtpSession } from './peers/smtp/smtp-session.ts'
export { type Frame, HandshakeRefusedError, StreamClient } from './peers/stream-client.ts'
export { verifyWebhook, type WebhookAnswer, WebhookReceiver, type WebhookRequest } from './peers/webhook-receiver.ts'
export { callerHeaders, callerOf, peerHeaders } from './services/callers.ts'
export {
  credentialDeletedEvent,
  deliveredEvent,
  EventPublisher,
  type InboxScope,
  inboxDeletedEvent,
  inboxScope,
  messageDeletedEvent,
  organizationDeletedEvent,
  organizationTakenOverEvent,
  podDeletedEvent,
  receivedEvent,
} from './services/events.ts'
export {
  attemptToOperate,
  createOrganization,
  GATEWAY_KEYS,
  GATEWAY_TOPICS,
  GatewayProcess,
  type Operated,
  operate,
} from './services/gateway-process.ts'
export { ServiceProcess } from './services/service-process.ts'
export { startService } from './services/services.ts'
export { lastingPeriod } from './timing/lasting-period.ts'
export { leastOf } from './timing/least-of.ts'
export { underLoad } from './timing/machine-load.ts'
export { trueUntil } from './timing/true-until.ts'
export { type WaitOptions, waitFor } from './timing/wait-for.ts'
