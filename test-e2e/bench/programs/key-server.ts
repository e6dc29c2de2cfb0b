/** A minimal API with keys: it hashes the key and looks it up in a map. */
import { createHmac } from 'node:crypto'
import express from 'express'
import { z } from 'zod'
import { inputOf, serve } from './parent.ts'

const { key, answer } = inputOf(z.object({ key: z.string(), answer: z.record(z.string(), z.unknown()) }))
const hash = (token: string) => createHmac('sha256', 'the secret of this bench').update(token).digest('base64')
const known = new Map([[hash(key), answer]])
const app = express()
app.get('/v0/auth/me', (request, response) => {
  const found = known.get(hash(request.headers.authorization?.replace(/^Bearer /, '') ?? ''))
  if (found) response.json(found)
  else response.status(401).json({ message: 'Unauthorized' })
})
serve(app)
