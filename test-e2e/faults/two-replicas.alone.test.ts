import { describeGatewayRestarts, GRACE_MS } from './gateways.ts'
import { describeFaults, INSTALLATION_TIMEOUT, Installation } from './harness/installation.ts'
import { describeReplicaRestarts } from './replicas.ts'

const environment = { SHUTDOWN_GRACE: `${GRACE_MS / 1_000}s` }

describeFaults('an installation with two processes of each service behind HAProxy', () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await Installation.start({ name: 'replicas', replicas: 2, environment })
  }, INSTALLATION_TIMEOUT)
  afterAll(() => installation?.stop(), INSTALLATION_TIMEOUT)
  const started = () => installation

  describeGatewayRestarts(started)
  describeReplicaRestarts(started)
}, ['haproxy'])
