import { SERVICES } from '@restante/contracts/vocabulary'
import { parseDuration } from '@restante/service/configuration'
import { z } from 'zod'
import { examples, type Manifest, ofKind, one, render } from './support/rendering.ts'
import { containerOf, podsOf, workloads } from './support/workloads.ts'

const hook = z.object({
  'helm.sh/hook': z.literal('pre-install,pre-upgrade'),
  'helm.sh/hook-weight': z.string(),
  'helm.sh/hook-delete-policy': z.literal('before-hook-creation,hook-succeeded'),
})

const deployment = z.looseObject({
  spec: z.looseObject({
    replicas: z.int().optional(),
    strategy: z.object({ rollingUpdate: z.object({ maxUnavailable: z.int(), maxSurge: z.int() }) }).loose(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
  }),
})

function checksums(manifests: readonly Manifest[]): Record<string, string | undefined> {
  return Object.fromEntries(
    [...ofKind(manifests, 'Deployment')].map(([name, it]) => [
      name,
      podsOf(it).metadata.annotations['checksum/settings'],
    ]),
  )
}

describe('the objects of every example', () => {
  const rendered = new Map<string, Manifest[]>()
  beforeAll(async () => {
    for (const example of await examples()) rendered.set(example, await render({ example }))
  })
  const all = () => [...rendered.values()].flat()

  it('run pods without root, capabilities, privileges, a writable root, or a token of the API server', () => {
    const found = all().flatMap((object) => (workloads([object]).length > 0 ? [object] : []))
    expect(found.length).toBeGreaterThan(60)
    for (const object of found) {
      const { spec } = podsOf(object)
      expect(spec.automountServiceAccountToken).toBe(false)
      expect(spec.enableServiceLinks).toBe(false)
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(containerOf(object).securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  it('give nobody rights at the API server, and contain no Secret', () => {
    const kinds = new Set(all().map(({ kind }) => kind))
    for (const kind of ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding', 'Secret'])
      expect(kinds).not.toContain(kind)
    for (const account of ofKind(all(), 'ServiceAccount').values())
      expect(account).toMatchObject({ automountServiceAccountToken: false })
  })

  it('are hooks only if they are Jobs, so that a rollback restores everything else', () => {
    for (const object of all()) {
      const isHook = 'helm.sh/hook' in object.metadata.annotations
      expect([object.kind, isHook]).toEqual([object.kind, object.kind === 'Job'])
      if (isHook) hook.parse(object.metadata.annotations)
    }
  })

  it('are named after the release, in its namespace, with the labels of their component', () => {
    for (const { metadata, kind } of all()) {
      expect(metadata.name).toMatch(/^restante-/)
      expect(metadata.namespace).toBe('mail')
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': 'restante',
        'app.kubernetes.io/instance': 'restante',
        'app.kubernetes.io/component': expect.stringMatching(/^[a-z-]+$/),
        'app.kubernetes.io/part-of': 'restante',
      })
      expect(kind).not.toBe('')
    }
  })

  it('select pods that exist, and no pod twice by two Deployments', () => {
    for (const manifests of rendered.values()) {
      const deployments = [...ofKind(manifests, 'Deployment').values()]
      for (const object of deployments) {
        const { matchLabels } = deployment.parse(object).spec.selector
        const selected = workloads(manifests).filter((other) =>
          Object.entries(matchLabels).every(([name, value]) => podsOf(other).metadata.labels[name] === value),
        )
        expect(selected).toEqual([object])
      }
    }
  })
})

describe('a Deployment', () => {
  it('exists for each service, replaces pods only by ready ones, and gives them longer than they take to drain', async () => {
    const manifests = await render({ values: { services: { gateway: { settings: { SHUTDOWN_GRACE: '1500ms' } } } } })
    for (const service of SERVICES) {
      const object = one(manifests, 'Deployment', `restante-${service}`)
      expect(deployment.parse(object).spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
      const grace = podsOf(object).spec.terminationGracePeriodSeconds ?? 0
      expect(grace).toBeGreaterThan((parseDuration(service === 'gateway' ? '1500ms' : '30s') ?? 0) / 1_000)
    }
    const waiting = await render({ values: { defaults: { preStopSeconds: 7 } } })
    expect(podsOf(one(waiting, 'Deployment', 'restante-gateway')).spec.terminationGracePeriodSeconds).toBe(47)
  })

  it('restarts exactly the pods whose settings change', async () => {
    const before = checksums(await render())
    const one = checksums(await render({ values: { services: { gateway: { settings: { POD_LIMIT: 5 } } } } }))
    expect(Object.keys(before).filter((name) => before[name] !== one[name])).toEqual(['restante-gateway'])
    const every = checksums(await render({ values: { settings: { LOG_LEVEL: 'debug' } } }))
    expect(Object.keys(before).filter((name) => before[name] === every[name])).toEqual([])
    expect(checksums(await render())).toEqual(before)
  })

  it('leaves the number of pods to the autoscaler, if there is one', async () => {
    const values = { services: { 'mail-send': { autoscaling: { enabled: true, lag: { enabled: true } } } } }
    const manifests = await render({ values })
    const replicas = (name: string) => deployment.parse(one(manifests, 'Deployment', name)).spec.replicas
    expect(replicas('restante-mail-send')).toBeUndefined()
    expect(replicas('restante-gateway')).toBe(2)
    expect([...ofKind(manifests, 'HorizontalPodAutoscaler').keys()]).toEqual(['restante-mail-send'])
  })

  it('runs the image of its service by tag, or by digest', async () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const values = { image: { registry: 'registry.test', tag: '1.2.3', digests: { gateway: digest } } }
    const manifests = await render({ values })
    const image = (kind: string, name: string) => containerOf(one(manifests, kind, name)).image
    expect(image('Deployment', 'restante-gateway')).toBe(`registry.test/restante/gateway@${digest}`)
    expect(image('Job', 'restante-migrate-mail-send')).toBe('registry.test/restante/mail-send:1.2.3')
    expect(containerOf(one(await render(), 'Deployment', 'restante-gateway')).image).toMatch(
      /^restante\/gateway:\d+\.\d+\.\d+$/,
    )
  })

  it('runs the roles of mail-ingest apart, if it is told to, behind the same name', async () => {
    const manifests = await render({ example: 'roles-apart' })
    const names = [...ofKind(manifests, 'Deployment').keys()].filter((name) => name.includes('mail-ingest'))
    expect(names).toEqual(['restante-mail-ingest-smtp', 'restante-mail-ingest-pipeline', 'restante-mail-ingest-api'])
    expect(one(manifests, 'Service', 'restante-mail-ingest')).toMatchObject({
      spec: { selector: { 'app.kubernetes.io/component': 'mail-ingest-api' } },
    })
    expect(one(manifests, 'Service', 'restante-smtp')).toMatchObject({
      spec: { selector: { 'app.kubernetes.io/component': 'mail-ingest-smtp' } },
    })
  })

  it('mounts secret files where its variables name them', async () => {
    const manifests = await render({ example: 'production' })
    const { volumeMounts } = containerOf(one(manifests, 'Deployment', 'restante-mail-send'))
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(
      expect.arrayContaining(['/etc/restante/engines', '/etc/restante/dkim/rsa', '/etc/restante/dkim/ed25519']),
    )
    expect(one(manifests, 'ConfigMap', 'restante-mail-send')).toMatchObject({
      data: { DKIM_KEY_FILE: '/etc/restante/dkim/rsa/key.pem', DKIM_SELECTOR: 'r1' },
    })
    expect(one(manifests, 'ConfigMap', 'restante-mail-ingest')).toMatchObject({
      data: { SMTP_TLS_CERT: '/etc/restante/smtp/tls.crt', SMTP_TLS_KEY: '/etc/restante/smtp/tls.key' },
    })
  })
})
