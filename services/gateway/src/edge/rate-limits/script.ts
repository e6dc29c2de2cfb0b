import type { Result } from 'ioredis'
import type { Answer, Bucket, Demand, Demands, Refusal } from './buckets.ts'

/**
 * Token buckets, each stored as one number: the time at which the bucket is full again, in microseconds of the clock of
 * Redis (generic cell rate algorithm). Taking a token adds one interval to it. A missing key is a full bucket, so keys
 * expire by themselves. Tokens that were taken ahead can put a bucket into debt, up to as many tokens as it holds.
 *
 * KEYS: the shared bucket, then the others, each once. ARGV: interval and burst of each bucket; then, for each demand,
 * the number of requests already admitted, the number of requests that ask, and the position of its own bucket, or 1 if
 * it takes from the shared bucket only. The reply has three numbers for each demand: how many requests are admitted,
 * and for the others the position of the bucket without tokens and how many microseconds it needs for the next one.
 * Then it has the number of tokens left in each bucket.
 */
export const TAKE_TOKENS = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local full, interval, depth, touched = {}, {}, {}, {}
for i = 1, #KEYS do
  interval[i] = tonumber(ARGV[2 * i - 1])
  depth[i] = interval[i] * tonumber(ARGV[2 * i])
  local known = tonumber(redis.call('GET', KEYS[i]) or now)
  full[i] = math.min(math.max(now, known), now + 2 * depth[i])
end
local function tokens(i) return math.floor((depth[i] - (full[i] - now)) / interval[i]) end
local function wait(i) return full[i] - now + interval[i] - depth[i] end
local function take(i, count)
  full[i] = math.min(full[i] + count * interval[i], now + 2 * depth[i])
  touched[i] = true
end
local function takeBoth(own, count)
  if count < 1 then return end
  take(1, count)
  if own ~= 1 then take(own, count) end
end
local first = 2 * #KEYS + 1
for a = first, #ARGV, 3 do takeBoth(tonumber(ARGV[a + 2]), tonumber(ARGV[a])) end
local reply = {}
for a = first, #ARGV, 3 do
  local asked, own = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local granted = math.max(0, math.min(asked, tokens(1), tokens(own)))
  takeBoth(own, granted)
  local short = own
  if wait(1) > wait(own) then short = 1 end
  reply[#reply + 1] = granted
  reply[#reply + 1] = short
  reply[#reply + 1] = math.max(0, wait(short))
end
for i = 1, #KEYS do reply[#reply + 1] = tokens(i) end
for i in pairs(touched) do
  redis.call('SET', KEYS[i], string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000))
end
return reply`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeTokens(keys: number, ...more: (string | number)[]): Result<unknown, Context>
  }
}

/** The buckets of the demands, in the order of the arguments and results of the script. */
function bucketsOf<D extends Demand>({ shared, all }: Demands<D>): Bucket[] {
  return [shared, ...all.flatMap(({ charge: { own } }) => (own === undefined ? [] : [own]))]
}

/** The arguments of the script. */
export function scriptArguments<D extends Demand>(demands: Demands<D>): [number, ...(string | number)[]] {
  const buckets = bucketsOf(demands)
  const rates = buckets.flatMap(({ intervalUs, burst }) => [intervalUs, burst])
  let place = 1
  const lines = demands.all.flatMap(({ charge, asked, owed }) => [owed, asked, charge.own === undefined ? 1 : ++place])
  return [buckets.length, ...buckets.map(({ key }) => key), ...rates, ...lines]
}

/** The result of the script. @throws TypeError for a reply of another form. */
export function answerOf<D extends Demand>(demands: Demands<D>, reply: unknown): Answer<D> {
  const { shared, all } = demands
  const buckets = bucketsOf(demands)
  if (!Array.isArray(reply) || reply.length !== 3 * all.length + buckets.length) {
    throw new TypeError('unexpected reply of the rate limit script')
  }
  const numbers = reply.map(Number)
  const verdicts = all.map((demand, index) => {
    const [granted = 0, short = 1, waitUs = 0] = numbers.slice(3 * index, 3 * index + 3)
    const refusal: Refusal = { bucket: short === 1 ? shared : (demand.charge.own ?? shared), waitMs: waitUs / 1000 }
    return { demand, granted, refusal: granted < demand.asked ? refusal : undefined }
  })
  const left = buckets.map((bucket, index) => ({ bucket, tokens: numbers[3 * all.length + index] ?? 0 }))
  return { shared, verdicts, left }
}
