import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { callerOf } from '@restante/testkit'
import { z } from 'zod'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import type { PlansInput } from './plans-of-lists.ts'

const PROGRAM = path.join(import.meta.dirname, 'plans-of-lists.ts')
const outcome = z.object({ requests: z.int(), plans: z.int() })

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
})
afterAll(() => fixture.stop())

describe('a connection to the database', () => {
  it('keeps a bounded number of plans, whatever combinations of filters are requested', async () => {
    const organization = callerOf({ organization_id: inbox.organization_id })
    const input: PlansInput = { databaseUrl: fixture.databaseUrl, inbox: inbox.caller, organization }
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, JSON.stringify(input)])
    const { requests, plans } = outcome.parse(JSON.parse(stdout))
    expect(requests).toBeGreaterThan(2_000)
    expect(plans).toBeGreaterThan(0)
    expect(plans).toBeLessThan(30)
  })
})
