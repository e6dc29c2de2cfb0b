import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import type { AppSettings } from '@restante/contracts/internal'
import { freePort, waitFor } from '@restante/testkit'
import { registerApp } from '../support/apps/registration.ts'
import { examplesIn } from '../support/fenced.ts'

export interface RelyingPartyOptions {
  /** Environment of the gateway. */
  readonly operator: Readonly<Record<string, string | undefined>>
  readonly issuer: string
  readonly settings?: Partial<AppSettings>
  readonly scope?: string
  /** Default: a free one. */
  readonly port?: number
}

/** A registered app that runs: the program of the guide for apps, unchanged. */
export interface RelyingParty {
  readonly appId: string
  readonly clientSecret: string
  readonly base: string
  stop(): Promise<void>
}

/** Registers an app, and starts it. */
export async function startRelyingParty(options: RelyingPartyOptions): Promise<RelyingParty> {
  const { operator, issuer, settings, scope, port = await freePort() } = options
  const base = `http://localhost:${port}`
  const { appId, clientSecret } = await registerApp(operator, {
    native: true,
    redirect_uris: [`${base}/callback`],
    initiate_login_uri: `${base}/login`,
    ...settings,
  })
  const environment = {
    PATH: process.env['PATH'],
    ISSUER: issuer,
    CLIENT_ID: appId,
    CLIENT_SECRET: clientSecret,
    BASE: base,
    PORT: String(port),
    ...(scope !== undefined && { SCOPE: scope }),
  }
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', await program()], {
    // The packages of the program are those of this folder.
    cwd: path.join(import.meta.dirname, '..'),
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await listening(child)
  return { appId, clientSecret, base, stop: () => end(child) }
}

/** The only complete program of the guide. */
async function program(): Promise<string> {
  const found = (await examplesIn('docs/guide-apps.md')).find(({ code }) => code.includes("from 'openid-client'"))
  if (found === undefined) throw new Error('docs/guide-apps.md has no complete app')
  return found.code
}

async function listening(child: ChildProcess): Promise<void> {
  let [printed, complaints] = ['', '']
  child.stdout?.on('data', (bytes: Buffer) => {
    printed += bytes.toString()
  })
  child.stderr?.on('data', (bytes: Buffer) => {
    complaints += bytes.toString()
  })
  await waitFor(() => printed.includes('listening') || child.exitCode !== null, { what: 'the app to listen' })
  if (child.exitCode !== null) throw new Error(`the app did not start: ${complaints}`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await waitFor(() => child.exitCode !== null || child.signalCode !== null, { what: 'the app to end' })
}
