import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type Consumer, deadLetterGroups, readDeadLetters } from '../src/index.ts'
import { encodeHeaders } from '../src/kafka/envelope.ts'
import { recordOf } from '../src/testing.ts'
import { ADD_EFFECT, BROKERS, type letters as lettersTopic, MessagingFixture, posted, until } from './fixture.ts'

const GROUP = 'mail-ingest.letters'

describe('dead letters', () => {
  let fixture: MessagingFixture
  let consumer: Consumer<typeof lettersTopic>
  let mended = false
  let failures = 0
  beforeEach(async () => {
    fixture = await MessagingFixture.open()
    mended = false
    failures = 0
    await fixture.relay()
    consumer = await fixture.consumer({
      attempts: 3,
      handlers: {
        'letter.posted': {
          effect: async (tx, event) => {
            if (event.payload.number === 13 && !mended) {
              failures++
              throw new RangeError(`cannot read: ${event.payload.text}`)
            }
            await tx.query(ADD_EFFECT, event.key, event.payload.number, '')
          },
        },
      },
    })
  })
  afterEach(() => fixture.close())

  /** Runs the command as a user would. */
  async function run(...args: string[]): Promise<{ code: number | null; output: string; refusal: string }> {
    const script = path.join(import.meta.dirname, '../src/commands/dead-letters.ts')
    const env = { ...process.env, KAFKA_BROKERS: BROKERS.join(','), TOPIC_PREFIX: fixture.prefix }
    const child = spawn(process.execPath, [script, ...args], { env })
    const [output, refusal, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    return { code, output, refusal }
  }

  const command = async (...args: string[]): Promise<string> => (await run(...args)).output

  it('are shown by a command that explains its usage and names the existing groups', async () => {
    const [help, nothing, noOffset, wrongOption, wrongGroup] = await Promise.all([
      run('--help'),
      run(),
      run('show', '--group', GROUP),
      run('list', '--grop', GROUP),
      run('list', '--group', 'mail-ingest.leters'),
    ])
    const usage = expect.stringMatching(/^usage: /)
    expect(help).toEqual({ code: 0, output: usage, refusal: '' })
    expect([nothing, noOffset]).toEqual(Array(2).fill({ code: 2, output: '', refusal: usage }))
    expect(wrongOption).toEqual({ code: 2, output: '', refusal: expect.stringMatching(/'--grop'.*\n\nusage: /s) })
    const groups = `No consumer group mail-ingest.leters. Existing groups:\n  ${GROUP}\n`
    expect(wrongGroup).toEqual({ code: 2, output: '', refusal: groups })
  })

  it('hold an event that a handler fails on, with the reason, while later events of its key go on', async () => {
    await fixture.post(posted('box', 12), posted('box', 13, 'the words'), posted('box', 14))
    await until(async () => (await fixture.effects()).length === 2)
    const [letter, ...others] = await readDeadLetters(fixture.kafka, GROUP)
    expect(others).toEqual([])
    expect(failures).toBe(3)
    // All three have one key, and so one partition, which is committed past the poison.
    await until(async () => [...(await fixture.committed(GROUP, 'letters')).values()].includes(3))
    expect(letter).toMatchObject({
      reason: 'failed',
      error: 'RangeError: cannot read: the words',
      origin: { topic: 'letters' },
    })
    expect(letter?.key?.toString()).toBe('box')
    expect(JSON.parse(letter?.value?.toString() ?? '')).toEqual({ number: 13, text: 'the words' })
  })

  it('hold records that no handler can read, after one attempt', async () => {
    const headers = { ...encodeHeaders('/restante/test', posted('box', 1)) }
    const { ce_id: _, ...anonymous } = headers
    await fixture.produce('letters', [
      { key: 'box', value: 'not json', headers },
      { key: 'box', value: '{"number":"one","text":"x"}', headers },
      { key: 'box', value: '{}', headers: anonymous },
      { key: 'box', value: '{}', headers: {} },
    ])
    await fixture.post(posted('box', 1))
    await until(async () => (await fixture.effects()).length === 1)
    const letters = await readDeadLetters(fixture.kafka, GROUP)
    expect(letters.map(({ reason }) => reason)).toEqual(['invalid', 'invalid', 'invalid', 'invalid'])
    expect(letters.map(({ error }) => error)).toEqual([
      'InvalidRecordError: the value is not JSON',
      'InvalidRecordError: the payload of letter.posted is not valid: number: invalid_type',
      'InvalidRecordError: the header ce_id is missing',
      expect.stringContaining('is missing'),
    ])
  })

  it('hold a record of a topic that the consumer does not take, instead of dropping it', async () => {
    const place = { topic: 'parcels', partition: 0, offset: 0, timestamp: Date.now() }
    await consumer.deliver({ ...place, ...recordOf(posted('box', 1)) })
    const [letter] = await readDeadLetters(fixture.kafka, GROUP)
    expect(letter).toMatchObject({
      reason: 'invalid',
      error: 'InvalidRecordError: parcels is not a topic of this consumer',
    })
    expect(await fixture.effects()).toEqual([])
  })

  it('are listed, shown and replayed by a command; a replayed letter has its effect once', async () => {
    expect(await command('list')).toBe('There are no dead letters.\n')
    const event = posted('box', 13)
    await fixture.post(event)
    await until(async () => (await deadLetterGroups(fixture.kafka)).length === 1)
    expect(await command('list')).toMatch(/mail-ingest\.letters +1/)
    expect(await command('list', '--group', GROUP)).toContain(event.id)
    const shown = await command('show', '--group', GROUP, '--offset', '0')
    expect(shown).toContain('failed: RangeError: cannot read: letter 13')
    expect(shown).not.toContain('"text"')
    expect(await command('show', '--group', GROUP, '--offset', '0', '--payload')).toContain('"text":"letter 13"')

    mended = true
    expect(await command('replay', '--group', GROUP, '--all', '--dry-run')).toContain('nothing was changed')
    await command('replay', '--group', GROUP, '--offset', '0')
    await until(async () => (await fixture.effects()).length === 1)
    await command('replay', '--group', GROUP, '--all')
    await fixture.post(posted('box', 14))
    await until(async () => (await fixture.effects()).length === 2)
    expect((await fixture.effects()).map(({ number }) => number)).toEqual([13, 14])
    expect(await deadLetterGroups(fixture.kafka)).toEqual([])
  })
})
