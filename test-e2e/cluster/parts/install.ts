import { SERVICES } from '@restante/contracts/vocabulary'
import { root } from '@restante/local/settings.ts'
import { waitFor } from '@restante/testkit'
import { output } from '../../support/programs/programs.ts'
import { components, helm, kubectl, objects, podsOf, RELEASE, ROLL_OUT } from '../harness/kubernetes.ts'
import { follow, readInstructions } from '../harness/readme.ts'
import type { Part } from '../harness/scene.ts'

const CHART = `${root}/helm/restante`
const ENGINES = `${root}/deploy/cluster/engines.yaml`

/** The options of `helm install` and `helm upgrade`. @param tag the images. */
export function installOptions(tag: string): string[] {
  return [
    CHART,
    `--values=${CHART}/examples/test-cluster.yaml`,
    `--set=image.tag=${tag}`,
    '--wait',
    `--timeout=${ROLL_OUT}`,
  ]
}

/** The engines, the databases, the namespace and the Secrets: what an operator brings. */
export const prepare: Part = {
  name: 'engines as pods, and the Secrets of all services by the generator',
  async run({ current }) {
    await startEngines()
    await follow(current, (await readInstructions()).secrets)
    const secrets = (await kubectl('get', 'secrets', '--output=name')).trim().split('\n')
    if (secrets.length !== SERVICES.length) throw new Error(`there are other Secrets: ${secrets.join(', ')}`)
    return `${secrets.length} Secrets`
  },
}

/** The chart is installed. Services that came later have no pods: nothing of the earlier release makes their topics. */
export const install: Part = {
  name: 'helm install --wait',
  async run({ earlier, later }) {
    await helm(
      'install',
      RELEASE,
      ...installOptions(earlier),
      ...later.map((name) => `--set=services.${name}.replicas=0`),
    )
    const pods = await podsOf()
    // A container that was slow to start is started again; none may end by itself.
    const crashed = pods.filter((pod) => pod.crashed)
    if (crashed.length > 0) throw new Error(`containers crashed: ${JSON.stringify(crashed)}`)
    return `${(await components()).length} Deployments, ${pods.length} pods of images :${earlier}`
  },
}

/** The release is removed. */
export const uninstall: Part = {
  name: 'helm uninstall leaves nothing but what the operator brought',
  async run() {
    await helm('uninstall', RELEASE, '--wait', `--timeout=${ROLL_OUT}`)
    await expectNothingLeft()
    return `left are the operator's own: ${(await objects()).join(', ')}`
  },
}

/** The Secrets of the generator, and what Kubernetes has in every namespace. */
const broughtByOperator = new RegExp(
  `^(secret/${RELEASE}-(${SERVICES.join('|')})|serviceaccount/default|configmap/kube-root-ca.crt)$`,
)

/** @throws Error when there is anything else in the namespace, or of the release in the cluster. */
export async function expectNothingLeft(): Promise<void> {
  const left = async () => (await objects()).filter((name) => !broughtByOperator.test(name))
  // Pods drain after their Deployments are gone.
  await waitFor(async () => (await left()).length === 0, {
    what: 'everything to be gone',
    timeout: 120_000,
    interval: 1_000,
  }).catch(async () => {
    throw new Error(`objects are left:\n${(await left()).join('\n')}`)
  })
  const wide = await output('kubectl', [
    'get',
    'clusterroles,clusterrolebindings,customresourcedefinitions,priorityclasses,persistentvolumes',
    `--selector=app.kubernetes.io/instance=${RELEASE}`,
    '--output=name',
  ])
  if (wide.trim() !== '') throw new Error(`objects of the cluster are left:\n${wide}`)
}

/** Starts the engines, without anything that an earlier installation left in them. */
export async function startEngines(): Promise<void> {
  await output('kubectl', ['delete', 'namespace', 'engines', '--ignore-not-found'])
  await output('kubectl', ['apply', '--filename', ENGINES])
  const deployments = ['postgres', 'redis', 'kafka', 's3']
  for (const name of deployments)
    await output('kubectl', ['--namespace=engines', 'rollout', 'status', `deployment/${name}`, `--timeout=${ROLL_OUT}`])
  for (const service of SERVICES) {
    const create = ['createdb', '--host=127.0.0.1', '--username=restante', service]
    await output('kubectl', ['--namespace=engines', 'exec', 'deployment/postgres', '--', ...create])
  }
}
