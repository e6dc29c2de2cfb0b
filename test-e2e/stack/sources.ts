import { existsSync } from 'node:fs'
import path from 'node:path'
import { isStoring, SERVICES, type ServiceName, type StoringName } from '@restante/contracts/vocabulary'
import { run } from '@restante/local/processes.ts'
import { root } from '@restante/local/settings.ts'
import { z } from 'zod'
import type { Resources } from './resources.ts'

const organization = z.object({ organization_id: z.string(), api_key: z.string() })

type Environment = Readonly<Record<string, string>>

/** The sources of a release, with its packages installed. Every program of it runs on its own Node. */
export class Sources {
  readonly name: string
  readonly folder: string
  /** The services that it has; later releases may have more. */
  readonly services: readonly ServiceName[]

  constructor(name: string, folder: string) {
    this.name = name
    this.folder = folder
    this.services = SERVICES.filter((service) => existsSync(path.join(folder, 'services', service)))
  }

  /** The command that runs a main file of the release as its image does. */
  command(main: string, nodeArguments: readonly string[] = []): [program: string, ...args: string[]] {
    const at = (file: string) => path.join(this.folder, file)
    return [at('libs/service/bin/service-node'), at('node_modules/node/bin/node'), ...nodeArguments, at(main)]
  }

  /** Runs a program of the release to its end. @throws Error with its last lines when it fails. */
  run(main: string, words: readonly string[], environment: Environment): Promise<string> {
    const [program, ...args] = this.command(main)
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment }
    return run(program, [...args, ...words], { cwd: this.folder, env })
  }

  /** Does what precedes the start of its services: migrates the databases, and creates or corrects the topics. */
  async prepare(resources: Pick<Resources, 'databases' | 'urls' | 'topicPrefix'>): Promise<void> {
    await this.ensureTopics(resources)
    for (const service of this.services.filter(isStoring)) await this.migrate(service, resources.databases[service])
  }

  migrate(service: StoringName, databaseUrl: string): Promise<string> {
    const migrate = 'libs/service/src/database/migrate-cli.ts'
    return this.run(migrate, [`services/${service}`], { DATABASE_URL: databaseUrl })
  }

  /** @throws Error when Kafka differs from what the release declares, in a way that it cannot correct. */
  async ensureTopics({ urls, topicPrefix }: Pick<Resources, 'urls' | 'topicPrefix'>): Promise<void> {
    await this.#topics('ensure', urls.KAFKA_BROKERS, topicPrefix)
  }

  /** @throws Error when Kafka differs from what the release declares. */
  async checkTopics({ urls, topicPrefix }: Pick<Resources, 'urls' | 'topicPrefix'>): Promise<void> {
    await this.#topics('check', urls.KAFKA_BROKERS, topicPrefix)
  }

  /** Creates an organization with an unrestricted key by the operator's command line of the release. */
  async createOrganization(operator: Environment): Promise<{ id: string; key: string }> {
    const words = ['organizations', 'create', '--json']
    const printed = await this.run('services/gateway/src/admin/main.ts', words, operator)
    const made = organization.parse(JSON.parse(printed))
    return { id: made.organization_id, key: made.api_key }
  }

  #topics(command: string, brokers: string, prefix: string): Promise<string> {
    return this.run('libs/messaging/src/commands/topics.ts', [command], {
      KAFKA_BROKERS: brokers,
      KAFKA_REPLICATION: '1',
      KAFKA_MIN_INSYNC_REPLICAS: '1',
      TOPIC_PREFIX: prefix,
    })
  }
}

/** The sources that this test is part of. */
export const present = new Sources('this release', root)
