import { ApiError } from '@restante/service/errors'
import { type ScriptedApi, scriptedApi } from '../support/scripted-api.ts'

describe('the memory that answers of the API take', () => {
  let scripted: ScriptedApi
  afterEach(() => scripted.close())

  const get = () => scripted.api.call('messages.get', { inboxId: 'a@b.example', params: { message_id: '<a@x>' } })

  it('is counted where they are large', async () => {
    let [counted, text] = [0, 'a'.repeat(1_000)]
    scripted = await scriptedApi(
      () => ({ text }),
      (bytes) => {
        counted += bytes
      },
    )
    await get()
    expect(counted).toBe(0)
    text = 'a'.repeat(2_000_000)
    await get()
    expect(counted).toBeGreaterThan(1_800_000)
  })

  it('fails a call for which there is none', async () => {
    const full = new ApiError('service_unavailable', { retryAfter: 1 })
    scripted = await scriptedApi(
      () => ({ text: 'a'.repeat(2_000_000) }),
      () => {
        throw full
      },
    )
    await expect(get()).rejects.toBe(full)
  })

  it('ends with answers that are too large for a tool', async () => {
    scripted = await scriptedApi(() => ({ text: 'a'.repeat(17 * 1_024 * 1_024) }))
    await expect(get()).rejects.toMatchObject({ status: 502, body: { code: 'too_large' } })
  })
})
