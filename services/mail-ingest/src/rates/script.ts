import type { Result } from 'ioredis'

/** All rates of inbound mail are per hour. */
export const WINDOW_MS = 3_600_000

/**
 * Counters of a sliding hour: the count of the current hour, and the share of the previous hour's count that is within
 * the last 60 minutes. A key holds `<hour> <count> <count of the previous hour>` and expires by itself. The clock is
 * that of Redis.
 *
 * KEYS: the counters. ARGV: the limit of each counter; an amount to add to each in any case (negative to give back);
 * then, for each question, the number of its counters, followed by the position and the amount of each. A question adds
 * all its amounts, or none if one of the counters would exceed its limit. The reply has, for each question, 0 or the
 * position of the first counter without room; then, for each counter, its hour and both counts.
 */
export const COUNT_MAIL = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local hour = math.floor(now / ${WINDOW_MS})
local left = 1 - (now % ${WINDOW_MS}) / ${WINDOW_MS}
local count, before, touched = {}, {}, {}
for i = 1, #KEYS do
  local h, c, b = string.match(redis.call('GET', KEYS[i]) or '', '^(%d+) (%d+) (%d+)$')
  h = tonumber(h or 0)
  if h == hour then
    count[i], before[i] = tonumber(c), tonumber(b)
  elseif h == hour - 1 then
    count[i], before[i] = 0, tonumber(c)
  else
    count[i], before[i] = 0, 0
  end
end
local function add(i, amount)
  if amount == 0 then return end
  count[i] = math.max(0, count[i] + amount)
  touched[i] = true
end
for i = 1, #KEYS do add(i, tonumber(ARGV[#KEYS + i])) end
local reply = {}
local at = 2 * #KEYS + 1
while ARGV[at] do
  local named = tonumber(ARGV[at])
  local short = 0
  for n = named, 1, -1 do
    local i, amount = tonumber(ARGV[at + 2 * n - 1]), tonumber(ARGV[at + 2 * n])
    if count[i] + before[i] * left + amount > tonumber(ARGV[i]) then short = i end
  end
  if short == 0 then
    for n = 1, named do add(tonumber(ARGV[at + 2 * n - 1]), tonumber(ARGV[at + 2 * n])) end
  end
  reply[#reply + 1] = short
  at = at + 2 * named + 1
end
for i = 1, #KEYS do
  reply[#reply + 1] = hour
  reply[#reply + 1] = count[i]
  reply[#reply + 1] = before[i]
end
for i in pairs(touched) do
  redis.call('SET', KEYS[i], string.format('%d %.0f %.0f', hour, count[i], before[i]), 'PX', 2 * ${WINDOW_MS})
end
return reply`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    countMail(keys: number, ...more: (string | number)[]): Result<unknown, Context>
  }
}
