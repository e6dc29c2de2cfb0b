import { Counter, Gauge, Histogram } from 'prom-client'

export const timerLag = new Gauge({
  name: 'restante_timers_lag_seconds',
  help: 'Delay of the timer that has been due longest and is neither queued nor running',
  labelNames: ['kind'],
})
export const timersLeased = new Counter({
  name: 'restante_timers_leased_total',
  help: 'Due timers added to the queue',
  labelNames: ['kind'],
})
export const attemptsEnded = new Counter({
  name: 'restante_timers_attempts_total',
  help: 'Attempts by outcome: completed, retry, given_up, lost (the lease), interrupted (by a shutdown), unknown',
  labelNames: ['kind', 'outcome'],
})
const OUTCOMES = ['completed', 'retry', 'given_up', 'lost', 'interrupted', 'unknown']

/** Begins the counter of a kind at 0: a series that began with the first attempt would hide it from `increase()`. */
export function countFromZero(kind: string): void {
  for (const outcome of OUTCOMES) attemptsEnded.inc({ kind, outcome }, 0)
}

export const startDelay = new Histogram({
  name: 'restante_timers_start_delay_seconds',
  help: 'Time from when a timer was due to the start of its attempt',
  labelNames: ['kind'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
})
export const attemptSeconds = new Histogram({
  name: 'restante_timers_attempt_seconds',
  help: 'Duration of an attempt',
  labelNames: ['kind'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
})
export const queueUp = new Gauge({
  name: 'restante_timers_queue_up',
  help: '1 while the Redis of the queues answers; timers wait in PostgreSQL while it is 0',
})
// A process that runs no timers uses no queues, and must not look like one without Redis.
queueUp.remove()
