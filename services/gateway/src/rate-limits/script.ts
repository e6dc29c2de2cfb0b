import type { Result } from 'ioredis'
import type { Demand, Demands, Refusal, Verdict } from './buckets.ts'

/**
 * Token buckets as one number each: the moment, in microseconds of Redis' own clock, at which the bucket is full again
 * (generic cell rate algorithm). Taking a token moves it by one interval; a key that is missing is a full bucket, so
 * keys go by themselves.
 *
 * KEYS: the shared bucket, then the others, each once. ARGV: interval and burst of each, then for each demand how many requests it
 * is and the place of their own bucket, 1 where the shared one is all they take from. Answers with three numbers for
 * each demand: how many pass, and for the rest which bucket is short for how many microseconds.
 */
export const TAKE_TOKENS = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local full, interval, depth, touched = {}, {}, {}, {}
for i = 1, #KEYS do
  interval[i] = tonumber(ARGV[2 * i - 1])
  depth[i] = interval[i] * tonumber(ARGV[2 * i])
  local known = tonumber(redis.call('GET', KEYS[i]) or now)
  full[i] = math.min(math.max(now, known), now + depth[i])
end
local function tokens(i) return math.floor((depth[i] - (full[i] - now)) / interval[i]) end
local function wait(i) return full[i] - now + interval[i] - depth[i] end
local function take(i, count)
  full[i] = full[i] + count * interval[i]
  touched[i] = true
end
local reply = {}
for a = 2 * #KEYS + 1, #ARGV, 2 do
  local asked, own = tonumber(ARGV[a]), tonumber(ARGV[a + 1])
  local granted = math.min(asked, tokens(1), tokens(own))
  if granted > 0 then
    take(1, granted)
    if own ~= 1 then take(own, granted) end
  end
  local short = own
  if wait(1) > wait(own) then short = 1 end
  reply[#reply + 1] = granted
  reply[#reply + 1] = short
  reply[#reply + 1] = math.max(0, wait(short))
end
for i in pairs(touched) do
  redis.call('SET', KEYS[i], string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000))
end
return reply`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeTokens(keys: number, ...more: (string | number)[]): Result<unknown, Context>
  }
}

/** What the script is called with. */
export function scriptArguments<D extends Demand>({ shared, all }: Demands<D>): [number, ...(string | number)[]] {
  const buckets = [shared]
  const lines: number[] = []
  for (const { charge, count } of all) {
    lines.push(count, charge.own === undefined ? 1 : buckets.push(charge.own))
  }
  const rates = buckets.flatMap(({ intervalUs, burst }) => [intervalUs, burst])
  return [buckets.length, ...buckets.map(({ key }) => key), ...rates, ...lines]
}

/** @throws TypeError when it is not what the script answers. */
export function verdictsOf<D extends Demand>({ shared, all }: Demands<D>, reply: unknown): Verdict<D>[] {
  if (!Array.isArray(reply) || reply.length !== 3 * all.length) throw new TypeError('not the answer of this script')
  return all.map((demand, index) => {
    const [granted = 0, short = 1, waitUs = 0] = reply.slice(3 * index, 3 * index + 3).map(Number)
    const refusal: Refusal = { bucket: short === 1 ? shared : (demand.charge.own ?? shared), waitMs: waitUs / 1000 }
    return { demand, granted, refusal: granted < demand.count ? refusal : undefined }
  })
}
