import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { rootCertificates } from 'node:tls'
import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import { kafkaVariables } from '@restante/messaging'
import { readEnvironment } from '@restante/service/configuration'
import { z } from 'zod'
import { environmentOf, generatedSecrets } from './support/environment.ts'
import { examples, ofKind, one, render, root } from './support/rendering.ts'
import { containerOf } from './support/workloads.ts'

const serviceModule = z.object({
  service: z.object({
    name: z.string(),
    configure: z.custom<(source: Record<string, string>) => unknown>((value) => typeof value === 'function'),
  }),
})

/** The service of a container reads its configuration. @throws ConfigurationError */
async function configure(service: string, environment: Record<string, string>): Promise<unknown> {
  const found = serviceModule.parse(await import(path.join(root, 'services', service, 'src/main.ts')))
  return found.service.configure(environment)
}

/** With the Secrets of KafkaUsers, which the operator of Strimzi makes. */
function withPasswords(secrets: ReadonlyMap<string, Record<string, string>>): Map<string, Record<string, string>> {
  const users = [...secrets.keys(), 'restante-operator'].map((name) => `${name}-kafka`)
  return new Map([...secrets, ...users.map((name): [string, Record<string, string>] => [name, { password: 'broker' }])])
}

describe('the environment of pods', () => {
  let secrets: Map<string, Record<string, string>>
  let folder: string
  beforeAll(async () => {
    secrets = await generatedSecrets()
    folder = await mkdtemp(path.join(tmpdir(), 'restante-authorities-'))
    await writeFile(path.join(folder, 'ca.crt'), rootCertificates[0] ?? '')
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** With the file of authorities, which services read with their configuration, where it is on this machine. */
  const mounted = (environment: Record<string, string>) =>
    'ENGINE_CA_FILE' in environment ? { ...environment, ENGINE_CA_FILE: path.join(folder, 'ca.crt') } : environment

  it.each(['minimal', 'production', 'gateway-api', 'roles-apart', 'shared-volume', 'test-cluster'])(
    'lets every service of the example %s start with the Secrets that the operator’s command prints',
    async (example) => {
      expect(await examples()).toContain(example)
      const manifests = await render({ example })
      const relay = ['--set', 'mail-send.SMARTHOST_PASSWORD=relay']
      const known = withPasswords(example === 'shared-volume' ? await generatedSecrets(...relay) : secrets)
      const deployments = [...ofKind(manifests, 'Deployment').values()]
      expect(deployments.length).toBeGreaterThanOrEqual(6)
      for (const deployment of deployments) {
        const service = containerOf(deployment).name
        expect(await configure(service, mounted(environmentOf(deployment, manifests, known)))).toMatchObject({
          service,
        })
      }
    },
  )

  it('gives migrations their database and topics their brokers, although nothing of the release exists yet', async () => {
    for (const example of ['minimal', 'production']) {
      const manifests = await render({
        example,
        values: { strimzi: { topics: { enabled: false }, users: { enabled: false } } },
      })
      const jobs = ofKind(manifests, 'Job')
      // Nothing but existing Secrets: no ConfigMap, no ServiceAccount.
      for (const job of jobs.values()) {
        expect(containerOf(job).envFrom).toEqual([])
        const environment = mounted(environmentOf(job, [], withPasswords(secrets)))
        if (job.metadata.name === 'restante-topics') {
          expect(readEnvironment(kafkaVariables, environment).KAFKA_BROKERS.length).toBe(1)
        } else expect(environment['DATABASE_URL']).toMatch(/^postgres:/)
      }
      // One for each database, and that of the topics.
      expect(jobs.size).toBe(STORING_SERVICES.length + 1)
      expect(jobs.has('restante-migrate-mcp')).toBe(false)
    }
  })

  it('gives mcp the address of the public API inside the cluster and two keys, and nothing of any engine', async () => {
    for (const example of ['minimal', 'production']) {
      const manifests = await render({ example })
      const pod = one(manifests, 'Deployment', 'restante-mcp')
      const environment = environmentOf(pod, manifests, withPasswords(secrets))
      expect(environment).toMatchObject({
        API_URL: 'http://restante-gateway:3000',
        GATEWAY_URL: 'http://restante-gateway:3100',
      })
      expect(Object.keys(secrets.get('restante-mcp') ?? {}).toSorted()).toEqual(['CALLER_KEY', 'PEER_KEY_GATEWAY'])
      const ofEngines = /DATABASE|KAFKA|REDIS|BLOB|ENGINE_CA|AWS_|SECRET/
      expect(Object.keys(environment).filter((name) => ofEngines.test(name))).toEqual([])
      expect(containerOf(pod).volumeMounts).toEqual([])
    }
  })
})
