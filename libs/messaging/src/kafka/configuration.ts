import { confidential, env } from '@restante/service/configuration'
import { z } from 'zod'

/** Where Kafka is, and how this installation uses it: for services, and for the programs of operators. */
export const kafkaVariables = z.object({
  KAFKA_BROKERS: env.list('127.0.0.1:9092').describe('Comma-separated host:port'),
  KAFKA_SSL: env.flag(false).describe('Connect to the brokers over TLS'),
  KAFKA_SASL_USERNAME: env
    .string()
    .optional()
    .describe('SASL user name at the brokers; together with the password it enables SASL'),
  KAFKA_SASL_PASSWORD: confidential(env.string()).optional().describe('SASL password at the brokers'),
  KAFKA_SASL_MECHANISM: env
    .choice(['plain', 'scram-sha-256', 'scram-sha-512'], 'scram-sha-512')
    .describe('SASL mechanism'),
  KAFKA_REPLICATION: env.integer(3, 9).describe('Required replication factor of topics'),
  KAFKA_MIN_INSYNC_REPLICAS: env.integer(2, 9).describe('Replicas that must confirm a record (min.insync.replicas)'),
  TOPIC_PREFIX: env.string().optional().describe('Prefix of every topic and consumer group'),
})

/** The same as the options of `Kafka`. */
export function kafkaConfiguration(given: z.output<typeof kafkaVariables>) {
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password, KAFKA_SASL_MECHANISM: mechanism } = given
  return {
    brokers: given.KAFKA_BROKERS,
    ssl: given.KAFKA_SSL,
    sasl: username !== undefined && password !== undefined ? { mechanism, username, password } : undefined,
    replication: given.KAFKA_REPLICATION,
    minInsyncReplicas: given.KAFKA_MIN_INSYNC_REPLICAS,
    topicPrefix: given.TOPIC_PREFIX,
  }
}
