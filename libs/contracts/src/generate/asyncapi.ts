import { stringify } from 'yaml'
import type { z } from 'zod'
import type { TopicDefinition } from '../events/definition/event.ts'
import { publicEvent } from '../events/public-events.ts'
import { topics } from '../events/topics.ts'
import {
  resumedFrame,
  subscribedFrame,
  subscribeFrame,
  unsubscribedFrame,
  unsubscribeFrame,
} from '../schemas/stream.ts'
import { errorEnvelope } from '../vocabulary/errors.ts'
import { VERSION } from '../vocabulary/version.ts'
import { Components, type Json } from './parts/components.ts'

/** CloudEvents 1.0 in Kafka's binary mode: attributes are headers, the value is the JSON payload. */
export const EVENT_HEADERS = {
  ce_specversion: 'Always `1.0`.',
  ce_id: 'UUID of the event; for a public event its `event_id`. The key of every deduplication.',
  ce_type: 'Event type.',
  ce_source: 'Service that produced it.',
  ce_subject: 'What it is about: an id to grep for.',
  ce_time: 'When it was recorded, RFC 3339.',
  ce_organizationid: 'For routing: organization.',
  ce_podid: 'For routing: pod, where there is one.',
  ce_inboxuid: 'For routing: inbox, where there is one.',
  ce_restricted: 'For routing: restricted labels on the message, joined with commas.',
  traceparent: 'W3C trace context.',
  'content-type': 'Always `application/json`.',
} as const

const REQUIRED_HEADERS = ['ce_specversion', 'ce_id', 'ce_type', 'ce_source', 'ce_time', 'content-type']

/** The AsyncAPI 3.0 document: Kafka topics, the live stream, webhook deliveries. */
export function asyncapi(): string {
  const components = new Components()
  const channels: Record<string, Json> = {}
  const actions: Record<string, Json> = {}
  for (const topic of Object.values<TopicDefinition>(topics)) {
    channels[topic.name] = topicChannel(topic, components)
    actions[`publish ${topic.name}`] = action('send', topic.name, `${topic.producer}: ${topic.summary}`)
  }
  channels['stream'] = streamChannel(components)
  channels['webhook'] = webhookChannel(components)
  actions['receive frames'] = frames('receive', ['subscribe', 'unsubscribe'])
  actions['send frames'] = frames('send', ['subscribed', 'unsubscribed', 'event', 'resumed', 'error'])
  actions['deliver webhook'] = action('send', 'webhook', 'At least once, with retries over about 27 hours.')
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: 'Restante events',
      version: VERSION,
      description: 'What travels on Kafka between services, and what subscribers get: one document for both.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      kafka: { host: '127.0.0.1:19092', protocol: 'kafka' },
      stream: { host: '127.0.0.1:3000', protocol: 'ws', pathname: '/v0' },
      webhook: { host: 'subscriber.example', protocol: 'https' },
    },
    channels,
    operations: actions,
    components: {
      messageTraits: {
        cloudEvent: {
          headers: {
            type: 'object',
            required: REQUIRED_HEADERS,
            properties: Object.fromEntries(
              Object.entries(EVENT_HEADERS).map(([name, description]) => [name, { type: 'string', description }]),
            ),
          },
        },
      },
      schemas: components.all(),
    },
  }
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
}

function topicChannel(topic: TopicDefinition, components: Components): Json {
  const messages = Object.entries(topic.events).map(([type, { schema, summary }]) => [
    type,
    {
      name: type,
      summary,
      traits: [{ $ref: '#/components/messageTraits/cloudEvent' }],
      payload: components.convert(schema, 'output'),
      bindings: { kafka: { key: { type: 'string', description: topic.key } } },
    },
  ])
  return {
    address: topic.name,
    description: topic.summary,
    servers: [{ $ref: '#/servers/kafka' }],
    messages: Object.fromEntries(messages),
    bindings: {
      kafka: {
        topic: topic.name,
        partitions: topic.partitions,
        topicConfiguration: { 'cleanup.policy': ['delete'], 'retention.ms': topic.retentionMs },
      },
    },
  }
}

function streamChannel(components: Components): Json {
  const frame = (name: string, summary: string, schema: z.ZodType, io: 'input' | 'output') => ({
    name,
    summary,
    payload: components.convert(schema, io),
  })
  return {
    address: '/v0',
    description: 'WebSocket. Nothing arrives before the first accepted `subscribe`.',
    servers: [{ $ref: '#/servers/stream' }],
    messages: {
      subscribe: frame(
        'subscribe',
        'Ask for events; adds scopes, replaces the types of a scope.',
        subscribeFrame,
        'input',
      ),
      unsubscribe: frame('unsubscribe', 'End subscriptions.', unsubscribeFrame, 'input'),
      subscribed: frame('subscribed', 'Answer to subscribe.', subscribedFrame, 'output'),
      unsubscribed: frame('unsubscribed', 'Answer to unsubscribe.', unsubscribedFrame, 'output'),
      event: frame(
        'event',
        'An event, as webhooks get it; to `cursors` or `resume_from` with a `cursor` as its last member.',
        publicEvent,
        'output',
      ),
      resumed: frame('resumed', 'What was missed is complete; what follows is live.', resumedFrame, 'output'),
      error: {
        name: 'error',
        summary: 'Answer to a frame that was refused; the connection stays open.',
        payload: {
          allOf: [
            { type: 'object', required: ['type'], properties: { type: { const: 'error' } } },
            components.convert(errorEnvelope, 'output'),
          ],
        },
      },
    },
  }
}

function webhookChannel(components: Components): Json {
  const headers = [
    'svix-id',
    'svix-timestamp',
    'svix-signature',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ]
  return {
    address: '{url}',
    description: 'POST of one event to the URL of a webhook; signed over `<id>.<timestamp>.<body>`.',
    servers: [{ $ref: '#/servers/webhook' }],
    parameters: { url: { description: 'URL of the webhook.' } },
    messages: {
      delivery: {
        name: 'delivery',
        summary: 'An event.',
        headers: {
          type: 'object',
          required: headers,
          properties: Object.fromEntries(headers.map((name) => [name, { type: 'string' }])),
        },
        payload: components.convert(publicEvent, 'output'),
      },
    },
  }
}

function action(kind: 'send' | 'receive', channel: string, summary: string): Json {
  return { action: kind, channel: { $ref: `#/channels/${channel}` }, summary }
}

function frames(kind: 'send' | 'receive', names: readonly string[]): Json {
  return {
    action: kind,
    channel: { $ref: '#/channels/stream' },
    messages: names.map((name) => ({ $ref: `#/channels/stream/messages/${name}` })),
  }
}
