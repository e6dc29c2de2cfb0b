import { confidential, env } from '@restante/service/configuration'
import { engineVariables } from '@restante/service/engines'
import { z } from 'zod'
import type { Credentials } from './access/sasl.ts'

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
    .choice(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'], 'scram-sha-512')
    .describe('SASL mechanism; oauthbearer needs KAFKA_OAUTH_* instead of user name and password'),
  KAFKA_OAUTH_TOKEN_URL: env
    .url()
    .optional()
    .describe('OAuth token endpoint, for tokens by the client credentials grant'),
  KAFKA_OAUTH_CLIENT_ID: env.string().optional().describe('OAuth client id'),
  KAFKA_OAUTH_CLIENT_SECRET: confidential(env.string())
    .optional()
    .describe('OAuth client secret, sent by HTTP basic authentication'),
  KAFKA_OAUTH_SCOPE: env.string().optional().describe('OAuth scope that is asked for'),
  KAFKA_REPLICATION: env.integer(3, 9).describe('Required replication factor of topics'),
  KAFKA_MIN_INSYNC_REPLICAS: env.integer(2, 9).describe('Replicas that must confirm a record (min.insync.replicas)'),
  TOPIC_PREFIX: env.string().optional().describe('Prefix of every topic and consumer group'),
  ...engineVariables.shape,
})
type Given = z.output<typeof kafkaVariables>

/** Variables that are each valid and do not go together. Each sentence begins with the name of a variable. */
export function kafkaProblems(given: Given): string[] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = given
  if (mechanism !== 'oauthbearer') {
    if (username !== undefined && password === undefined)
      return ['KAFKA_SASL_PASSWORD is missing: it must be given together with KAFKA_SASL_USERNAME']
    if (username === undefined && password !== undefined)
      return ['KAFKA_SASL_USERNAME is missing: it must be given together with KAFKA_SASL_PASSWORD']
    return []
  }
  const needed = ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET'] as const
  return needed.filter((name) => given[name] === undefined).map((name) => `${name} is missing: oauthbearer needs it`)
}

/** The same as the options of `Kafka`. */
export function kafkaConfiguration(given: Given) {
  return {
    brokers: given.KAFKA_BROKERS,
    ssl: given.KAFKA_SSL,
    trust: given.ENGINE_CA_FILE,
    sasl: credentialsOf(given),
    replication: given.KAFKA_REPLICATION,
    minInsyncReplicas: given.KAFKA_MIN_INSYNC_REPLICAS,
    topicPrefix: given.TOPIC_PREFIX,
  }
}

function credentialsOf(given: Given): Credentials | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = given
  if (mechanism !== 'oauthbearer')
    return username === undefined || password === undefined ? undefined : { mechanism, username, password }
  const { KAFKA_OAUTH_TOKEN_URL: tokenUrl, KAFKA_OAUTH_CLIENT_ID: clientId, KAFKA_OAUTH_SCOPE: scope } = given
  const { KAFKA_OAUTH_CLIENT_SECRET: clientSecret } = given
  if (tokenUrl === undefined || clientId === undefined || clientSecret === undefined) return undefined
  return { mechanism, tokenUrl, clientId, clientSecret, scope }
}
