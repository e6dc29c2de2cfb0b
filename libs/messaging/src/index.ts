export { offsetsCheck, topicsCheck } from './checks/kafka-check.ts'
export { missedEventsCheck } from './checks/missed-events.ts'
export { outboxCheck } from './checks/outbox-check.ts'
export { type ProjectedRow, projectionCheck } from './checks/projection-check.ts'
export { recordedSince } from './checks/recorded-since.ts'
export { Consumer } from './consumer/consumer.ts'
export type { ConsumerOptions } from './consumer/options.ts'
export { LATE_MS } from './consumer/partitions/work.ts'
export { Projection, type ProjectionOptions, type ProjectionStore, type SnapshotPage } from './consumer/projection.ts'
export { DeadLetterBacklog } from './dead-letters/backlog.ts'
export { consumerGroup, deadLetterTopic } from './dead-letters/dead-letters.ts'
export { type DeadLetter, deadLetterGroups, readDeadLetters, replayDeadLetters } from './dead-letters/reader.ts'
export { kafkaConfiguration, kafkaProblems, kafkaVariables } from './kafka/configuration.ts'
export { decodeEvent, InvalidRecordError, type RecordedEvent, readEnvelope } from './kafka/envelope.ts'
export { type Durability, Kafka, type KafkaOptions } from './kafka/kafka.ts'
export { formatPosition, parsePosition, type RecordPosition } from './kafka/position.ts'
export type { ConsumedRecord } from './kafka/record.ts'
export { type EncodedEvent, EventTooLargeError, InvalidEventError, MAX_EVENT_BYTES, Outbox } from './outbox/outbox.ts'
export { Relay, type RelayOptions } from './outbox/relay.ts'
export type {
  BatchHandler,
  EffectHandler,
  Handler,
  Handlers,
  PreparedBatchHandler,
  PreparedHandler,
} from './processing/handlers.ts'
export { MarkSweeper, markEvents } from './processing/marks.ts'
export {
  hasProcessed,
  heldAround,
  heldRecords,
  type RecordRange,
  readEvents,
  readRecordedEvent,
  recordedBetween,
} from './records/read-events.ts'
export { type RangeRecords, readRanges } from './records/read-ranges.ts'
export { deadLetterSettings, type TopicSettings, topicSettings } from './topics/settings.ts'
export { checkTopics, ensureDeadLetters, ensureTopics, TopicsCheck } from './topics/topics.ts'
