/**
 * `npm run demo`: a demonstration in the terminal, against the running local stack. `npm run demo -- signin`: an app that an
 * agent signs in to, for a look at it in a browser.
 */
import { readSettings } from '@restante/local/settings.ts'
import { WebhookReceiver } from '@restante/testkit'
import { AgentMailError } from 'agentmail'
import { CapturedMails } from './captured-mail.ts'
import { runScenario } from './scenario.ts'
import { runSignIn } from './sign-in.ts'
import { bold, print, red } from './terminal.ts'

const settings = readSettings(process.env)
const api = `http://127.0.0.1:${settings.port('gateway')}`
const captured = new CapturedMails(`http://127.0.0.1:${settings.port('captured-web')}`)
const began = performance.now()

print(bold(`Restante at ${api}`))
try {
  if (process.argv[2] === 'signin') {
    await runSignIn({ api, captured, issuer: `http://localhost:${settings.port('sign-in')}`, operator: process.env })
  } else {
    await converse()
    print(`\n${bold('Done')} in ${((performance.now() - began) / 1000).toFixed(1)} s.\n`)
  }
} catch (error) {
  print(`\n${red('The demo failed')}: ${reasonOf(error)}`)
  print(`The logs of the services are in ${settings.logs}\n`)
  process.exitCode = 1
}

async function converse(): Promise<void> {
  const receiver = await new WebhookReceiver().start()
  try {
    await runScenario({ api, smtpPort: settings.port('smtp'), captured, receiver })
  } finally {
    await receiver.stop()
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AgentMailError && error.statusCode !== undefined) {
    return `the API answered ${error.statusCode} ${JSON.stringify(error.body)}`
  }
  return causesOf(error).join(': ')
}

/** The message of an error, followed by those of its causes, without repetitions. */
function causesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  const deeper = error.cause === undefined ? [] : causesOf(error.cause)
  return [error.message, ...deeper.filter((reason) => !error.message.includes(reason))]
}
