import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { type InternalRequestOf, internalOperations } from '@restante/contracts/internal'

const find = internalOperations['mail-ingest.findMessages']
const send = internalOperations['mail-send.sendSystemMail']

/** Fake mail-ingest and mail-send: HTTP on loopback. They know the messages of a test, and keep mail to humans. */
export class FakeMail {
  /** Ids of the messages that are deleted; all others exist. */
  readonly deleted = new Set<string>()
  /** Questions about messages that have arrived, and what their answers wait for. */
  questions = 0
  answering: Promise<void> | undefined
  /** Mails of the installation, by their id: a repeated id is the same mail. */
  readonly mails = new Map<string, InternalRequestOf<'mail-send.sendSystemMail'>>()
  /** Calls of mail-send, repetitions included. */
  sends = 0
  /** Status that mail-send answers next time, though it takes the mail: an answer that is lost. */
  failing: number | undefined
  url = ''
  readonly #server: Server = createServer(async (given, response) => {
    const body = await json(given)
    response.setHeader('content-type', 'application/json')
    if (given.url === find.path) {
      const { message_ids } = find.body.parse(body)
      this.questions++
      await this.answering
      return void response.end(JSON.stringify({ message_ids: message_ids.filter((id) => !this.deleted.has(id)) }))
    }
    if (given.url !== send.path) return void response.writeHead(404).end('{}')
    const mail = send.body.parse(body)
    this.sends++
    if (!this.mails.has(mail.id)) this.mails.set(mail.id, mail)
    response.statusCode = this.failing ?? 200
    this.failing = undefined
    response.end('{}')
  })

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    this.url = `http://127.0.0.1:${address.port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
