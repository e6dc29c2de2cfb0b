import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endProcess, exchange, exists, recallProcess, run, startDetached } from '../processes.ts'
import { step } from '../progress.ts'
import { root, type Settings } from '../settings.ts'
import type { Engine } from './engine.ts'

const source = join(import.meta.dirname, '../kafka')

/**
 * Only the quick compiler: a broker that runs for minutes never earns back the cost of the second one, half of all its
 * CPU time. The serial collector costs less than others where cores are few and the heap is small.
 */
const machine = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError', '-XX:TieredStopAtLevel=1']

/** Apache Kafka in KRaft mode, one process as broker and controller, from the jars that Maven Central publishes. */
export function kafka(settings: Settings): Engine {
  const port = settings.port('kafka')
  const home = join(settings.state, 'kafka')
  const properties = join(home, 'server.properties')
  const pidFile = join(settings.state, 'run', 'kafka.pid')
  const log = join(settings.logs, 'kafka.log')
  return {
    name: 'Kafka',
    port,
    log,
    answers: async () => (await exchange(port, apiVersionsRequest)) !== undefined,
    process: () => recallProcess(pidFile),
    async start() {
      await mkdir(home, { recursive: true })
      await writeFile(properties, serverProperties(settings, join(home, 'data')))
      if (!(await exists(join(home, 'data', 'meta.properties')))) await formatStorage(properties)
      await startBroker(properties, { log, pidFile, cwd: home })
    },
    stop: () => endProcess(pidFile),
  }
}

/** Prepares the data directory that a file of properties names. @param more options of Kafka's own tool. */
export async function formatStorage(properties: string, more: readonly string[] = []): Promise<void> {
  // One word with its option: one in 64 ids begins with a hyphen, and would be taken for an option.
  const cluster = `--cluster-id=${randomBytes(16).toString('base64url')}`
  const command = ['kafka.tools.StorageTool', 'format', cluster, '-c', properties, ...more]
  await run('java', [...(await classPath()), ...command])
}

/** Starts a broker; it accepts requests some seconds later. @param more options of the Java machine. */
export async function startBroker(
  properties: string,
  options: Parameters<typeof startDetached>[2],
  more: readonly string[] = [],
): Promise<void> {
  await startDetached('java', [...machine, ...more, ...(await classPath()), 'kafka.Kafka', properties], options)
}

async function classPath(): Promise<string[]> {
  const jars = join(await fetchJars(), '*')
  return ['-cp', jars, `-Dlog4j2.configurationFile=${join(source, 'log4j2.yaml')}`]
}

/** The folder of the jars that pom.xml names, fetched once per clone and content of pom.xml, shared by all states. */
async function fetchJars(): Promise<string> {
  const pom = join(source, 'pom.xml')
  const version = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 12)
  const jars = join(root, '.restante/kafka', `jars-${version}`)
  if (await exists(jars)) return jars
  return step('Fetching Apache Kafka from Maven Central', async () => {
    const partial = `${jars}.${process.pid}`
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${partial}`]
    await run('mvn', ['-q', '-B', '-f', pom, ...goal])
    // A concurrent process that was first has fetched the same files.
    await rename(partial, jars).catch(() => rm(partial, { recursive: true, force: true }))
    return jars
  })
}

function serverProperties(settings: Settings, data: string): string {
  const port = settings.port('kafka')
  const controller = settings.port('kafka-controller')
  return propertiesText({
    ...brokerProperties({ data, controller }),
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
  })
}

/** The text of a file of properties. */
export function propertiesText(properties: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

/** The properties of a single broker that is its own controller, without those of its listeners. */
export function brokerProperties({ data, controller }: { readonly data: string; readonly controller: number }) {
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': data,
    // Topics are declared in libs/contracts and created by its command, never automatically.
    'auto.create.topics.enable': false,
    'message.max.bytes': 2 * 1024 * 1024,
    'replica.fetch.max.bytes': 2 * 1024 * 1024,
    // One broker: settings that default to three copies cannot be above one here.
    'default.replication.factor': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    // A consumer group starts at once instead of waiting 3 s for further members.
    'group.initial.rebalance.delay.ms': 0,
    // The files of indexes are created in this size, two for each partition, of which a test run has thousands.
    'log.index.size.max.bytes': 64 * 1024,
    'log.cleaner.dedupe.buffer.size': 16 * 1024 * 1024,
  }
}

/**
 * Size, API 18 (ApiVersions) version 0, correlation id 1, no client id: answered as soon as the broker accepts
 * requests.
 */
const apiVersionsRequest = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff])
