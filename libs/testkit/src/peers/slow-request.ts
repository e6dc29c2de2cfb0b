import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { waitFor } from '../timing/wait-for.ts'

/** Duration of a request, in milliseconds, after which its caller must be looked up again. */
const OUT_OF_DATE_MS = 1_100

export interface SlowAnswer {
  readonly status: number
  readonly body: unknown
}

/**
 * Starts a request with a JSON body and holds back the rest of the body. Resolves when the server has asked for the
 * body, and so has admitted the request.
 * @returns a function that sends the rest, more than a second after the header, and reads the response.
 */
export async function slowRequest(
  method: 'POST' | 'PATCH',
  url: string,
  headers: Readonly<Record<string, string>>,
  document: unknown,
): Promise<() => Promise<SlowAnswer>> {
  const text = JSON.stringify(document)
  const length = String(Buffer.byteLength(text))
  const all = { 'content-type': 'application/json', 'content-length': length, expect: '100-continue', ...headers }
  const message = request(url, { method, headers: all })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    message.once('response', resolve)
    message.once('error', reject)
  })
  answered.catch(() => {})
  await new Promise<void>((resolve, reject) => {
    message.once('continue', resolve)
    answered.then(() => reject(new Error(`${method} ${url} was answered before its body`)), reject)
    message.flushHeaders()
  })
  message.write(text.slice(0, 5))
  const admitted = performance.now()
  return async () => {
    await waitFor(() => performance.now() - admitted > OUT_OF_DATE_MS, { what: 'the head to be out of date' })
    message.end(text.slice(5))
    const answer = await answered
    return { status: answer.statusCode ?? 0, body: await json(answer) }
  }
}
