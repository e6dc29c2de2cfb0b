import { LIMITS } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import type { System } from '../../stack/system.ts'
import type { RegisteredApp } from '../../support/apps/registration.ts'
import type { Bench, BenchContext } from '../harness/bench.ts'
import type { Figure } from '../harness/figures.ts'
import { inParallel } from '../harness/in-parallel.ts'
import { costOf } from '../load/costs/cost-of.ts'
import { pidOf } from '../load/processes.ts'
import { Audited } from '../load/sign-in/audited.ts'
import { BATCHES, compareExchanges, MANY, type MeasuredProvider } from '../load/sign-in/comparison.ts'
import { exchange } from '../load/sign-in/exchange.ts'
import { IssuedCodes } from '../load/sign-in/issued-codes.ts'
import { createAgents, REDIRECT_URI, registerApps, SCOPE, signIn } from '../load/sign-in/sign-ins.ts'
import { TokenEndpoint } from '../load/sign-in/token-endpoint.ts'
import { Program } from '../programs/program.ts'

const SIGN_INS = 200
const SIGNING_IN = 4
/** Codes of a batch. The memory adapter of oidc-provider holds four entries for each, and about a thousand in all. */
const BATCH = 200
/** Exchanges of an app, all of which may fall into one minute. */
const PER_APP = LIMITS.app.exchangesPerMinute / 2

/** A system with apps, whose sign-ins are measured. */
interface Measured {
  readonly context: BenchContext
  readonly system: System
  readonly apps: readonly RegisteredApp[]
  readonly endpoint: TokenEndpoint
  readonly audited: Audited
}

export const signin: Bench = {
  name: 'signin',
  about: 'codes exchanged for tokens, compared with a bare oidc-provider, and what a sign-in costs',
  async run(context) {
    const system = await context.startSystem()
    const { endpoints } = system
    const batch = context.size(BATCH)
    const measured: Measured = {
      context,
      system,
      apps: await registerApps(endpoints, Math.ceil(((BATCHES + 1) * batch) / PER_APP)),
      endpoint: context.cleanUp(await TokenEndpoint.discover(endpoints.signInUrl, MANY)),
      audited: context.cleanUp(await Audited.open(endpoints)),
    }
    const whole = await signInAgents(measured)
    const codes = context.cleanUp(await IssuedCodes.open(endpoints, measured.apps))
    const ours: MeasuredProvider = {
      name: 'apps-signin and gateway',
      endpoint: measured.endpoint,
      pids: [pidOf(system, 'apps-signin'), pidOf(system, 'gateway')],
      issue: () => codes.issue(batch),
    }
    const compared = await compareExchanges(context, ours, await bareProvider(context, batch))
    const issued = await codes.issue(batch)
    const exchanges = await costOf(measured, 'code exchange', BATCH, (count) =>
      measured.audited.complete(count, () => measured.endpoint.exchange(issued, MANY)),
    )
    return [...compared, ...exchanges, ...whole]
  },
}

/** Signs inboxes in with new keys, from the app's request to its tokens. */
async function signInAgents({ context, system, apps, endpoint, audited }: Measured): Promise<Figure[]> {
  const warmUp = LIMITS.app.activationsPerDay
  context.say('creating inboxes ...')
  const agents = await createAgents(system.endpoints, warmUp + context.size(SIGN_INS))
  const signInAll = (from: number, count: number) =>
    audited.complete(count, () =>
      inParallel(count, SIGNING_IN, async (at) => {
        const [agent, app] = [agents[from + at], apps[at % apps.length]]
        if (agent === undefined || app === undefined) throw new Error('there are too few inboxes or apps')
        await endpoint.exchange([await signIn(system.endpoints, agent, app)], 1)
      }),
    )
  await signInAll(0, warmUp)
  return costOf({ context, system }, 'sign-in with a new key', SIGN_INS, (count) => signInAll(warmUp, count))
}

async function bareProvider(context: BenchContext, codes: number): Promise<MeasuredProvider> {
  const program = context.cleanUp(Program.start('oidc-server', { codes, redirectUri: REDIRECT_URI, scope: SCOPE }))
  const { issuer } = await program.next(z.object({ issuer: z.url() }))
  return {
    name: 'oidc-provider',
    endpoint: context.cleanUp(await TokenEndpoint.discover(issuer, MANY)),
    pids: [program.pid],
    async issue() {
      program.resume()
      return (await program.next(z.object({ issued: z.array(exchange) }))).issued
    },
  }
}
