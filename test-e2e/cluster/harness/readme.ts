import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { output } from '../../support/programs/programs.ts'
import { RELEASE } from './kubernetes.ts'

/** The commands of the chart's README, as a reader runs them. */
export interface Instructions {
  /** The variables that a reader fills in. */
  readonly variables: readonly string[]
  /** Makes the Secrets. */
  readonly secrets: string
  /** Installs the chart, checks it and creates an organization. */
  readonly install: readonly string[]
  readonly uninstall: string
}

/** Reads the blocks of the README whose language is sh. @throws Error when they are not those of an installation. */
export async function readInstructions(): Promise<Instructions> {
  const text = await readFile(path.join(root, 'helm/restante/README.md'), 'utf8')
  const blocks = [...text.matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].map(([, indent = '', code = '']) =>
    code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const [settings, secrets, ...others] = blocks
  const uninstall = others.pop()
  if (!settings?.startsWith('export ') || !secrets?.includes(' secrets ') || !uninstall?.startsWith('helm uninstall'))
    throw new Error('the sh blocks of the README must be: exports, Secrets, installation and checks, uninstallation')
  const variables = [...settings.matchAll(/([A-Z0-9_]+)=/g)].map(([, name = '']) => name)
  return { variables, secrets, install: others, uninstall }
}

/** What the reader of the README fills in, for the engines of deploy/cluster. @param tag the images. */
export function filledIn(tag: string): Record<string, string> {
  return {
    NAMESPACE: RELEASE,
    REGISTRY: 'localhost',
    TAG: tag,
    DOMAIN: 'restante.test',
    API_URL: 'https://api.restante.test',
    SIGN_IN_URL: 'https://signin.restante.test',
    OPERATOR: 'operator@outside.test',
    DATABASE_URL: 'postgresql://restante@postgres.engines:5432/{service}',
    REDIS_URL: 'redis://redis.engines:6379',
    KAFKA_BROKERS: 'kafka.engines:9092',
    KAFKA_SSL: 'false',
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    S3_BUCKET: 'restante',
    S3_REGION: 'us-east-1',
    S3_ENDPOINT: 'http://s3.engines:9000',
    S3_ACCESS_KEY: 'restante',
    S3_SECRET_KEY: 'restante-secret',
  }
}

/** Runs blocks of the README unchanged, in a shell that ends at the first error. @returns what they print. */
export async function follow(tag: string, ...blocks: string[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'restante-readme-'))
  try {
    await symlink(path.join(root, 'helm'), path.join(folder, 'helm'))
    const exports = Object.entries(filledIn(tag)).map(([name, value]) => `export ${name}='${value}'`)
    const script = ['set -euo pipefail', `cd '${folder}'`, ...exports, ...blocks].join('\n')
    return await output('bash', ['-c', script])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
