import { setTimeout } from 'node:timers/promises'
import { randomName } from '@restante/testkit'
import { type RelyingParty, startRelyingParty } from '../sign-in/relying-party.ts'
import { Api } from '../support/api.ts'
import { type Scene, signUp, verify } from './scenario.ts'
import { bold, detail, heading, print, timed } from './terminal.ts'

export interface SignInScene extends Pick<Scene, 'api' | 'captured'> {
  /** Origin of the sign-in pages. */
  readonly issuer: string
  /** Environment of the gateway, for the registration of the app. */
  readonly operator: Readonly<Record<string, string | undefined>>
}

const SCOPE = 'openid email profile owner_email'
const DISCLOSURE = 'This app is the example of the guide. It shows what it was given, and **keeps nothing**.'
/** Half a day: a person looks at the pages. */
const PATIENCE = 12 * 60 * 60 * 1_000

/** An agent with an inbox, an app, and a link to open in a browser. Runs until it is interrupted. */
export async function runSignIn(scene: SignInScene): Promise<void> {
  const human = `human-${randomName()}@elsewhere.test`
  const { client, inboxId, key } = await signUp(scene, human)
  await verify(scene, client, human)
  heading(3, 'The operator registers an app, which starts')
  const app = await timed('the app listens', () =>
    startRelyingParty({ ...scene, scope: SCOPE, settings: { disclosure: DISCLOSURE } }),
  )
  detail(`app     ${app.base}   (the program of docs/guide-apps.md)`)
  try {
    await lookAround(scene, { app, inboxId, api: new Api(scene.api, key) })
  } finally {
    await app.stop()
  }
}

interface Cast {
  readonly app: RelyingParty
  readonly inboxId: string
  /** With the key of the agent. */
  readonly api: Api
}

async function lookAround(scene: SignInScene, cast: Cast): Promise<void> {
  const { app, inboxId, api } = cast
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
  heading(4, 'The agent makes a link that signs its inbox in')
  const { body } = await timed('POST /v0/apps/…/connect', () =>
    api.post(`/v0/apps/${app.appId}/connect`, { inbox_id: inboxId }),
  )
  print(`\n  Open this in a browser within five minutes:\n\n  ${bold(String(body['magic_url']))}\n`)
  print('  Ctrl-C ends the demo.')
  while (!(await hasSignedIn(cast))) if (!(await pause(1_000, interruption.signal))) return
  heading(5, 'The browser is signed in')
  detail(`again   ${app.base}/login   asks nothing`)
  detail(`keys    ${scene.issuer}/sessions   are those of the browser`)
  await pause(PATIENCE, interruption.signal)
}

/** Whether the app has exchanged its code. */
async function hasSignedIn({ api, inboxId }: Cast): Promise<boolean> {
  const { body } = await api.get(`/v0/inboxes/${encodeURIComponent(inboxId)}/accounts`)
  return Array.isArray(body['accounts']) && body['accounts'].length > 0
}

/** @returns false when the demo was interrupted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(milliseconds, true, { signal }).catch(() => false)
}
