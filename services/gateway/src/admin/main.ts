import { readEnvironment } from '@restante/service/configuration'
import { Installation } from './checks/installation.ts'
import { configurePublicUrl, publicUrlEnvironment } from './model-keys/public-url.ts'
import { Apps } from './operator/apps.ts'
import {
  appsEnvironment,
  configure,
  configureApps,
  configureDomains,
  configureInstallation,
  configureMetrics,
  configureQueue,
  configureWebhookLog,
  domainsEnvironment,
  environment,
  metricsEnvironment,
  queueEnvironment,
  webhookLogEnvironment,
} from './operator/config.ts'
import { DeliveryQueue } from './operator/delivery-queue.ts'
import { Domains } from './operator/domains.ts'
import { Metrics } from './operator/metrics.ts'
import { Operator } from './operator/operator.ts'
import { WebhookLog } from './operator/webhook-log.ts'
import { processConsole } from './output/console.ts'
import { execute } from './program.ts'

/** The operator's command line: results on standard output, everything else on standard error. */
async function main(words: readonly string[]): Promise<number> {
  let operator: Operator | undefined
  let queue: DeliveryQueue | undefined
  let webhooks: WebhookLog | undefined
  let domains: Domains | undefined
  let apps: Apps | undefined
  let metrics: Metrics | undefined
  let installation: Installation | undefined
  const console = processConsole({
    operator() {
      operator ??= new Operator(configure(readEnvironment(environment, process.env)))
      return operator
    },
    queue() {
      queue ??= new DeliveryQueue(configureQueue(readEnvironment(queueEnvironment, process.env)))
      return queue
    },
    webhooks() {
      webhooks ??= new WebhookLog(configureWebhookLog(readEnvironment(webhookLogEnvironment, process.env)))
      return webhooks
    },
    domains() {
      domains ??= new Domains(configureDomains(readEnvironment(domainsEnvironment, process.env)))
      return domains
    },
    apps() {
      apps ??= new Apps(configureApps(readEnvironment(appsEnvironment, process.env)))
      return apps
    },
    metrics() {
      metrics ??= new Metrics(configureMetrics(readEnvironment(metricsEnvironment, process.env)))
      return metrics
    },
    installation() {
      installation ??= new Installation(configureInstallation(process.env))
      return installation
    },
    publicUrl: () => configurePublicUrl(readEnvironment(publicUrlEnvironment, process.env)),
  })
  try {
    return await execute(console, words)
  } finally {
    const opened = [operator, queue, webhooks, domains, apps, metrics, installation]
    await Promise.all(opened.map((store) => store?.close()))
  }
}

// A reader such as `head` may close the output early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})
process.exitCode = await main(process.argv.slice(2))
