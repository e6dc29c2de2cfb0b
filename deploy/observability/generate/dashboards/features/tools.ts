import { dashboard } from '../../frame.ts'
import { graph, tile } from '../../panels.ts'
import { perSecond, quantile, share, total } from '../../queries.ts'

const CALLS = 'restante_tool_calls_total'
const DURATION = 'restante_tool_call_duration_seconds'
/** Calls that wait on purpose say nothing about how fast the others are. */
const PROMPT = 'tool!="wait_for_message"'
const FAILED_HERE = 'outcome=~"internal_error|service_unavailable"'

/** Tools for language models: what they do, how fast they answer, and what waits. */
export const tools = dashboard({
  name: 'tools',
  title: 'Tools for language models',
  description: 'The MCP server: calls of tools by outcome, their time, and calls that wait for a message.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Calls that fail here',
          description: 'Share of the calls that fail by no fault of their caller. Good: 0.',
          unit: 'percentunit',
          queries: [{ expr: share(perSecond(CALLS, { labels: FAILED_HERE }), perSecond(CALLS)), legend: 'failed' }],
          limits: { orange: 0.01, red: 0.05 },
          runbooks: ['RestanteToolsFail'],
        }),
        tile({
          title: 'Time of calls, 95 %',
          description: '95 of 100 calls that do not wait on purpose take less. Good: below half a second.',
          unit: 's',
          queries: [{ expr: quantile(0.95, DURATION, { labels: PROMPT }), legend: '95 %' }],
          limits: { orange: 1, red: 5 },
          runbooks: ['RestanteApiSlow'],
        }),
        tile({
          title: 'Calls that wait',
          description: 'Calls of wait_for_message that wait now. Good: below 500 for each process.',
          unit: 'short',
          queries: [{ expr: total('restante_tool_calls_waiting'), legend: 'waiting' }],
          limits: { orange: 2_000, red: 5_000 },
          runbooks: ['RestanteMemoryNearLimit'],
        }),
        tile({
          title: 'Calls that models get wrong',
          description:
            'Share of the calls that are refused for what they ask. It depends on the models: a high share of one tool is a description that misleads.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                perSecond(CALLS, { labels: 'outcome!~"ok|internal_error|service_unavailable"' }),
                perSecond(CALLS),
              ),
              legend: 'refused',
            },
          ],
          limits: { orange: 0.2, red: 0.5 },
        }),
      ],
    },
    {
      title: 'Calls',
      panels: [
        graph({
          title: 'Calls by tool',
          description: 'What language models do here, a line for each tool.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond(CALLS, { by: 'tool' }), legend: '{{tool}}' }],
        }),
        graph({
          title: 'Calls by outcome',
          description: 'ok, or the code of the error. Good: internal_error and service_unavailable are absent.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond(CALLS, { by: 'outcome' }), legend: '{{outcome}}' }],
          runbooks: ['RestanteToolsFail'],
        }),
        graph({
          title: 'Time of calls',
          description: 'Without those that wait on purpose. The API behind them takes most of it.',
          unit: 's',
          queries: [0.5, 0.95, 0.99].map((each) => ({
            expr: quantile(each, DURATION, { labels: PROMPT }),
            legend: `${each * 100} %`,
          })),
          runbooks: ['RestanteApiSlow'],
        }),
        graph({
          title: 'Time by tool, 95 %',
          description: 'wait_for_message takes as long as its caller wants to wait, at most a minute.',
          unit: 's',
          queries: [{ expr: quantile(0.95, DURATION, { by: 'tool' }), legend: '{{tool}}' }],
          runbooks: ['RestanteApiSlow'],
        }),
      ],
    },
    {
      title: 'Waiting',
      panels: [
        graph({
          title: 'Calls that wait, by process',
          description: 'Each is one poll at the gateway and one at websocket-fanout as well.',
          unit: 'short',
          queries: [{ expr: total('restante_tool_calls_waiting', { by: 'instance' }), legend: '{{instance}}' }],
          runbooks: ['RestanteMemoryNearLimit'],
        }),
        graph({
          title: 'Refused for their rate',
          description:
            'Calls beyond the limit of their key. Good: none for long; a model that repeats itself causes them.',
          unit: 'ops',
          queries: [
            { expr: perSecond(CALLS, { by: 'tool', labels: 'outcome="rate_limit_exceeded"' }), legend: '{{tool}}' },
          ],
        }),
      ],
    },
  ],
})
