import path from 'node:path'
import { topics } from '@restante/contracts/events'
import pg from 'pg'
import { collectTopic, createDatabase, createTopics, openRedis, waitFor } from '../src/index.ts'

const service = path.resolve(import.meta.dirname, '../../../services/websocket-fanout')

describe('what a suite has of the engines', () => {
  it('provide a database with every migration, deleted after its drop', async () => {
    const database = await createDatabase(service)
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const { rowCount } = await client.query('select from _prisma_migrations where finished_at is not null')
    expect(rowCount).toBeGreaterThan(0)
    client.on('error', () => undefined)
    await database.drop()
    await expect(new pg.Client({ connectionString: database.url }).connect()).rejects.toThrow('does not exist')
  })

  it('is one database each for suites that start together', async () => {
    const databases = await Promise.all([createDatabase(service), createDatabase(service), createDatabase(service)])
    expect(new Set(databases.map(({ url }) => url)).size).toBe(3)
    await Promise.all(databases.map((database) => database.drop()))
  })

  it('provide topics under a prefix of their own, read from their beginning, deleted afterwards', async () => {
    const suite = await createTopics([topics['mail.feedback']])
    const producer = suite.kafka.producer()
    await producer.connect()
    const topic = suite.kafka.physical('mail.feedback')
    await producer.send({ topic, messages: [{ key: 'k', value: '{}', headers: { ce_id: '1', ce_type: 't' } }] })
    await producer.disconnect()
    const collection = await collectTopic(suite.kafka, 'mail.feedback')
    const record = await collection.next(({ id }) => id === '1', { what: 'the record' })
    expect(record).toMatchObject({ key: 'k', type: 't', value: '{}' })
    await collection.stop()
    await suite.delete()
    // The brokers forget topics a moment after they have confirmed their deletion.
    const areGone = async () => {
      const names = await suite.kafka.administrate((admin) => admin.listTopics())
      return !names.some((name) => name.startsWith(suite.prefix))
    }
    await waitFor(areGone, { what: 'the topics to be gone' })
  })

  it('is keys in Redis that it can delete without harm to others', async () => {
    const [mine, theirs] = [openRedis(), openRedis()]
    await mine.client.set(`${mine.prefix}:a`, '1')
    await theirs.client.set(`${theirs.prefix}:a`, '1')
    expect(await mine.deleteKeys()).toBe(1)
    expect(await theirs.client.get(`${theirs.prefix}:a`)).toBe('1')
    await Promise.all([mine.close(), theirs.close()])
  })
})

describe('waiting', () => {
  it('ends with what the condition gives', async () => {
    let looks = 0
    expect(await waitFor(() => ++looks === 3 && 'there', { what: 'three looks' })).toBe('there')
  })

  it('fails with what was waited for and why it did not come', async () => {
    const condition = () => {
      throw new Error('not connected')
    }
    await expect(waitFor(condition, { what: 'a miracle', timeout: 50 })).rejects.toThrow(
      /^Timed out after \d+\.?\d* s waiting for a miracle: not connected$/,
    )
  })
})
