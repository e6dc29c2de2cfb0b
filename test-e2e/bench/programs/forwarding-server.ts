/** A minimal proxy of Express 5 and undici: no key, no scope, no token, no log. */
import express from 'express'
import { Pool } from 'undici'
import { z } from 'zod'
import { inputOf, serve } from './parent.ts'

const { upstream } = inputOf(z.object({ upstream: z.url() }))
const pool = new Pool(upstream, { connections: 128 })
const app = express()
app.get('/v0/webhooks', async (request, response) => {
  await pool.stream({ method: 'GET', path: request.url }, ({ statusCode, headers }) => {
    response.statusCode = statusCode
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined && name !== 'connection' && name !== 'keep-alive') response.setHeader(name, value)
    }
    return response
  })
})
serve(app)
