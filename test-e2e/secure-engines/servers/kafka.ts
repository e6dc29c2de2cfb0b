import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brokerProperties, formatStorage, propertiesText, startBroker } from '@restante/local/engines/kafka.ts'
import { endProcess } from '@restante/local/processes.ts'
import { Kafka } from '@restante/messaging'
import type { EngineTrust } from '@restante/service/engines'
import { createLogger } from '@restante/service/telemetry'
import { freePort, PATIENCE_MS, waitFor } from '@restante/testkit'
import { type CertificateFiles, HOST } from './certificates.ts'
import { AUDIENCE, type TokenEndpoint } from './token-endpoint.ts'

/** The user that may do everything. */
export const SUPER_USER = 'admin'

const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule'
const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule'
const OAUTH = 'org.apache.kafka.common.security.oauthbearer'

export interface SecureKafkaOptions {
  readonly folder: string
  readonly certificate: CertificateFiles
  readonly trust: EngineTrust
  /** Passwords by user, for SCRAM and PLAIN. `SUPER_USER` is one of them. */
  readonly users: Readonly<Record<string, string>>
  readonly tokens: TokenEndpoint
}

type Mechanism = 'scram' | 'plain' | 'oauth'

/**
 * A broker that serves TLS connections only, has a listener for each SASL mechanism, and allows a user what its ACLs
 * allow.
 */
export class SecureKafka {
  /** `host:port` of the listener of each mechanism. */
  readonly brokers: Readonly<Record<Mechanism, string>>
  /** Connections of the user that may do everything. */
  readonly admin: Kafka
  readonly #pidFile: string

  private constructor(brokers: Readonly<Record<Mechanism, string>>, admin: Kafka, pidFile: string) {
    this.brokers = brokers
    this.admin = admin
    this.#pidFile = pidFile
  }

  static async start(options: SecureKafkaOptions): Promise<SecureKafka> {
    const home = path.join(options.folder, 'kafka')
    await mkdir(home, { recursive: true })
    const [scram, plain, oauth, controller] = [await freePort(), await freePort(), await freePort(), await freePort()]
    const ports = { scram, plain, oauth, controller }
    const properties = path.join(home, 'server.properties')
    await writeFile(properties, propertiesText(await propertiesOf(options, home, ports)))
    await formatStorage(properties, scramUsers(options.users))
    const pidFile = path.join(home, 'kafka.pid')
    // Kafka asks no server for keys that this property does not name.
    const allowed = `-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${options.tokens.keysUrl}`
    await startBroker(properties, { log: path.join(home, 'kafka.log'), pidFile, cwd: home }, [allowed])
    const admin = new Kafka({
      brokers: [`${HOST}:${scram}`],
      clientId: 'secure-engines',
      ssl: true,
      trust: options.trust,
      sasl: { mechanism: 'scram-sha-512', username: SUPER_USER, password: options.users[SUPER_USER] ?? '' },
      replication: 1,
      minInsyncReplicas: 1,
      log: createLogger({ service: 'secure-engines', level: 'silent' }),
    })
    const broker = new SecureKafka(
      { scram: `${HOST}:${scram}`, plain: `${HOST}:${plain}`, oauth: `${HOST}:${oauth}` },
      admin,
      pidFile,
    )
    await waitFor(() => admin.administrate(async (client) => (await client.describeCluster()).brokers.length === 1), {
      what: `Kafka with SASL (${home})`,
      timeout: 2 * PATIENCE_MS,
      interval: 200,
    })
    return broker
  }

  stop(): Promise<void> {
    return endProcess(this.#pidFile)
  }
}

function scramUsers(users: Readonly<Record<string, string>>): string[] {
  return Object.entries(users).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  )
}

async function propertiesOf(
  { certificate, users, tokens }: SecureKafkaOptions,
  home: string,
  ports: Readonly<Record<Mechanism | 'controller', number>>,
): Promise<Record<string, string | number | boolean>> {
  const keystore = path.join(home, 'keystore.pem')
  const files = await Promise.all([readFile(certificate.key, 'utf8'), readFile(certificate.certificate, 'utf8')])
  await writeFile(keystore, files.join(''), { mode: 0o600 })
  const own = `username="${SUPER_USER}" password="${users[SUPER_USER]}"`
  const known = Object.entries(users).map(([name, password]) => `user_${name}="${password}"`)
  const listeners = (['scram', 'plain', 'oauth'] as const).map((name) => ({ name, port: ports[name] }))
  return {
    ...brokerProperties({ data: path.join(home, 'data'), controller: ports.controller }),
    listeners: [
      ...listeners.map(({ name, port }) => `${name.toUpperCase()}://127.0.0.1:${port}`),
      `CONTROLLER://127.0.0.1:${ports.controller}`,
    ].join(','),
    'advertised.listeners': listeners.map(({ name, port }) => `${name.toUpperCase()}://${HOST}:${port}`).join(','),
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,SCRAM:SASL_SSL,PLAIN:SASL_SSL,OAUTH:SASL_SSL',
    'inter.broker.listener.name': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keystore,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': certificate.certificate,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // The controller, which only this process reaches, knows itself by no name.
    'super.users': `User:${SUPER_USER};User:ANONYMOUS`,
    'listener.name.scram.sasl.enabled.mechanisms': 'SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.scram.scram-sha-256.sasl.jaas.config': `${SCRAM} required;`,
    'listener.name.scram.scram-sha-512.sasl.jaas.config': `${SCRAM} required;`,
    'listener.name.plain.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.plain.plain.sasl.jaas.config': `${PLAIN} required ${own} ${known.join(' ')};`,
    'listener.name.oauth.sasl.enabled.mechanisms': 'OAUTHBEARER',
    'listener.name.oauth.oauthbearer.sasl.jaas.config': `${OAUTH}.OAuthBearerLoginModule required;`,
    'listener.name.oauth.oauthbearer.sasl.server.callback.handler.class': `${OAUTH}.OAuthBearerValidatorCallbackHandler`,
    'listener.name.oauth.oauthbearer.connections.max.reauth.ms': 3_600_000,
    'listener.name.oauth.sasl.oauthbearer.jwks.endpoint.url': tokens.keysUrl,
    'listener.name.oauth.sasl.oauthbearer.expected.audience': AUDIENCE,
    'listener.name.oauth.sasl.oauthbearer.expected.issuer': tokens.url,
  }
}
