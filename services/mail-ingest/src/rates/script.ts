import type { Result } from 'ioredis'

/** All rates of inbound mail are per hour. */
export const WINDOW_MS = 3_600_000

/**
 * Counters of a sliding hour: what was counted since the hour began, and of the hour before as much as is not yet an hour
 * ago. A key holds `<hour> <count> <count of the hour before>` and expires by itself. The clock is Redis' own.
 *
 * KEYS: counters. ARGV: the limit of each, an amount to be added to each in any case (negative: taken back), then for
 * each question how many counters it names, and of each its position and the amount. A question adds all its amounts,
 * or none when one of the counters would exceed its limit. The reply holds for each question 0, or the position of the
 * first counter without room; then for each counter its hour and both counts.
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
