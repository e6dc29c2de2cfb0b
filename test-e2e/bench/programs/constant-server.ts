/** Answers every request with the same document: the service behind the proxy that is measured. */
import express from 'express'
import { z } from 'zod'
import { inputOf, serve } from './parent.ts'

inputOf(z.object({}))
const document = {
  count: 1,
  webhooks: [{ webhook_id: 'a-webhook', url: 'https://example.test/', text: 'x'.repeat(800) }],
}
const app = express()
app.use((_request, response) => void response.json(document))
serve(app)
