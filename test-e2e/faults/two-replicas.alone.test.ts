import { describeAtFullLength } from '@restante/testkit'
import { describeFollowers } from './followers.ts'
import { describeGatewayRestarts, GRACE_MS } from './gateways.ts'
import { INSTALLATION_TIMEOUT, Installation, MISSING_ENGINES } from './harness/installation.ts'
import { describeReplicaRestarts } from './replicas.ts'

const NEEDS = { programs: ['haproxy'], missing: MISSING_ENGINES }
const environment = { SHUTDOWN_GRACE: `${GRACE_MS / 1_000}s` }

/** Each process drains for its full time, one after another, which takes minutes and both cores. */
describeAtFullLength(NEEDS, 'an installation with two processes of each service behind HAProxy', () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await Installation.start({ name: 'replicas', replicas: 2, environment })
  }, INSTALLATION_TIMEOUT)
  afterAll(() => installation?.stop(), INSTALLATION_TIMEOUT)
  const started = () => installation

  describeGatewayRestarts(started)
  describeReplicaRestarts(started)
  describeFollowers(started, { replicas: 2 })
})
