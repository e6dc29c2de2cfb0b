import { rm } from 'node:fs/promises'
import { describeAtFullLength } from '@restante/testkit'
import { describeTools } from '../mcp/faults.ts'
import { START_TIMEOUT } from '../stack/connect.ts'
import { currentRun } from '../stack/run.ts'
import { System } from '../stack/system.ts'
import { describeInboxDeletion } from './inbox-deletion.ts'
import { describeLargeMailbox } from './large-mailbox.ts'
import { describeMemory, describeMemoryAtRest } from './memory.ts'
import { describeOrganizationDeletion } from './organization-deletion.ts'
import { describeRestart } from './restart.ts'
import { describeReconnecting } from './streams/reconnecting.ts'

/** These tests inspect processes, search every table and kill services, so other files do not share this system. */
const state = `${currentRun().folder}-own`
/** Accepted mail is not given up during a test. */
const environment = { RETRY_FOR: '1h' }

describe('a system of its own', () => {
  let system: System
  beforeAll(async () => {
    system = await System.start(state, { environment })
  }, START_TIMEOUT)
  afterAll(async () => {
    await system?.stop()
    await rm(state, { recursive: true, force: true })
  }, START_TIMEOUT)
  const started = () => system

  describe('the memory of each service', () => describeMemoryAtRest(started))
  describe('a deleted inbox', () => describeInboxDeletion(started))
  describe('a deleted organization', () => describeOrganizationDeletion(started))
  describeAtFullLength({ programs: [] }, 'the largest things in a mailbox', () => describeLargeMailbox(started))
  describeAtFullLength({ programs: [] }, 'the memory of each service', () => describeMemory(started))
  describe('a service that is killed in the middle of its work', () => describeRestart(started))
  describe('the public TypeScript client', () => describeReconnecting(started))
  describe('a client of the tools', () => describeTools(started))
})
