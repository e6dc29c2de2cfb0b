import { SmtpSession, waitFor } from '@restante/testkit'
import { openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
}, 60_000)
afterAll(() => stage.stop(), 30_000)

const SESSIONS = 12
/** PostgreSQL refuses rows for this recipient only. */
const REFUSE = (address: string) => `
create function refuse() returns trigger language plpgsql as $$
begin
  if new.recipient = '${address}' then raise exception 'refused by the test'; end if;
  return new;
end $$;
create trigger refuse before insert on inbound for each row execute function refuse()`

describe('mails that many sessions bring at the same moment', () => {
  it('are answered each for itself: one whose row cannot be written fails alone', async () => {
    const inboxes = await Promise.all(Array.from({ length: SESSIONS }, () => stage.inbox()))
    const [refused, ...taken] = inboxes.map(({ address }) => address)
    for (const text of REFUSE(refused ?? '').split(/;\n(?=create)/)) await stage.db.orm.$executeRawUnsafe(text)
    const codes = await Promise.all(
      inboxes.map(async ({ address }) => {
        const smtp = await SmtpSession.open(stage.smtpPort)
        const answers: number[] = []
        for (let mail = 0; mail < 3; mail++) {
          await smtp.envelope('ada@customer.test', address)
          answers.push((await smtp.data(`Subject: ${mail}\r\n\r\nfor ${address}\r\n`)).code)
        }
        await smtp.quit()
        return answers
      }),
    )
    expect(codes).toEqual(inboxes.map(({ address }) => (address === refused ? [451, 451, 451] : [250, 250, 250])))
    const stored = () => stage.db.orm.message.findMany({ select: { inboxAddress: true } })
    await waitFor(async () => (await stored()).length === taken.length * 3, { what: 'every accepted mail' })
    const holders = (await stored()).map(({ inboxAddress }) => inboxAddress).sort()
    expect(holders).toEqual(taken.flatMap((address) => [address, address, address]).sort())
  })
})
