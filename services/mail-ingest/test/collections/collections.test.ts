import { describeAtFullLength, describeWith } from '@restante/testkit'
import { MailRun } from '../hostile/support/mail-run.ts'
import { Ingest } from '../hostile/support/process.ts'
import { PROGRAMS } from './clients.ts'
import { mailsOf } from './messages.ts'
import { COLLECTIONS } from './packages.ts'

describeAtFullLength({ programs: [] }, 'a public collection of mails', () => {
  let ingest: Ingest
  beforeAll(async () => {
    ingest = await Ingest.open()
  })
  afterAll(() => ingest.close())

  for (const collection of COLLECTIONS) {
    const { name, version, client, count } = collection
    describeWith({ programs: PROGRAMS[client] }, `in ${name} ${version} (${client})`, () => {
      it(`is received, stored, listed and read back as it was sent: ${count} mails`, async () => {
        const mails = await mailsOf(collection)
        const run = await MailRun.open(ingest)
        const read = await ingest.whileOthersAreAnswered(() => run.send(mails))
        expect(read.flatMap(({ mail, problem }) => (problem === undefined ? [] : [[mail.what, problem]]))).toEqual([])
        expect(read.length).toBe(count)
      }, 600_000)
    })
  }
})
