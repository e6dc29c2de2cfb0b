import type { TopicDefinition } from '../events/definition/event.ts'
import { topics } from '../events/topics.ts'
import { EVENT_HEADERS } from './asyncapi.ts'
import { Components, type Json, member, strings } from './parts/components.ts'
import { anchor, NOTICE, table } from './parts/markdown.ts'

const DAY = 24 * 60 * 60 * 1000

/** The topic catalog, for people who read topics with ordinary tools. */
export function topicsPage(): string {
  const components = new Components()
  const all = Object.values<TopicDefinition>(topics)
  const sections = all.map((topic) => topicSection(topic, components))
  return [
    '# Topics',
    NOTICE,
    'Each topic has one producing service and a key within which order is kept. A record is a CloudEvent in binary mode: attributes are headers, the value is readable JSON. The value of a public event (`message.*`) is, byte for byte, the document that webhooks and streams deliver.',
    'Consumers see a record at least once, and are right under repetition and reordering. With a `TOPIC_PREFIX`, names carry it in front.',
    table(
      ['Topic', 'Key', 'Produced by', 'Partitions', 'Kept', 'What'],
      all.map((topic) => [
        `[\`${topic.name}\`](#${anchor(topic.name)})`,
        topic.key,
        topic.producer,
        String(topic.partitions),
        `${topic.retentionMs / DAY} days`,
        topic.summary,
      ]),
    ),
    '## Headers',
    table(
      ['Header', 'Meaning'],
      Object.entries(EVENT_HEADERS).map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
    'Dead letters of a consumer group are in `<group>.dlq`: the same record, with the reason in further headers (`restante_dlq_*`), kept 14 days.',
    ...sections,
    '## Shapes',
    ...Object.entries(components.all()).map(([name, shape]) => `### ${name}\n\n${fields(shape)}`),
    '',
  ].join('\n\n')
}

function topicSection(topic: TopicDefinition, components: Components): string {
  const events = Object.entries(topic.events).map(
    ([type, { schema, summary }]) => `### ${type}\n\n${summary}\n\n${fields(components.convert(schema, 'output'))}`,
  )
  const tail = `kcat -b 127.0.0.1:19092 -C -t ${topic.name} -o -10 -e -f '%k %h\\n%s\\n\\n'`
  return [
    `## ${topic.name}`,
    topic.summary,
    `Key: ${topic.key}. Produced by ${topic.producer}. The last ten records of each partition:`,
    `\`\`\`sh\n${tail}\n\`\`\``,
    ...events,
  ].join('\n\n')
}

function fields(shape: Json): string {
  const variants = shape['oneOf'] ?? shape['anyOf']
  if (variants !== undefined && shape['properties'] === undefined) return `One of: ${typeText(shape)}`
  return table(['Field', 'Type', 'Meaning'], rows(shape, ''))
}

function rows(shape: Json, prefix: string): string[][] {
  const required = strings(shape, 'required')
  const properties = member(shape, 'properties')
  return Object.keys(properties).flatMap((name) => {
    const property = member(properties, name)
    const optional = required.includes(name) ? '' : ', optional'
    const description = typeof property['description'] === 'string' ? property['description'] : ''
    const own = [`\`${prefix}${name}\``, `${typeText(property)}${optional}`, description]
    const inner = nested(property)
    return inner === undefined ? [own] : [own, ...rows(inner.shape, `${prefix}${name}${inner.mark}.`)]
  })
}

/** The members to show below a field: of an object that has no name of its own, or of a list of such. */
function nested(property: Json): { readonly shape: Json; readonly mark: string } | undefined {
  if (property['properties'] !== undefined) return { shape: property, mark: '' }
  const items = member(property, 'items')
  return items['properties'] === undefined ? undefined : { shape: items, mark: '[]' }
}

function typeText(shape: Json): string {
  if (typeof shape['$ref'] === 'string') return reference(shape['$ref'])
  if (shape['const'] !== undefined) return `\`${String(shape['const'])}\``
  if (Array.isArray(shape['enum']))
    return shape['enum'].length > 12 ? 'string' : shape['enum'].map((word) => `\`${word}\``).join(', ')
  const variants = shape['oneOf'] ?? shape['anyOf']
  if (Array.isArray(variants)) return variants.map((variant: Json) => typeText(variant)).join(' or ')
  if (shape['type'] === 'array') return `list of ${typeText(member(shape, 'items'))}`
  if (shape['type'] === 'object' && shape['properties'] === undefined)
    return `map to ${typeText(member(shape, 'additionalProperties'))}`
  return String(shape['format'] ?? shape['type'] ?? 'any')
}

function reference(ref: string): string {
  const name = ref.split('/').at(-1) ?? ref
  return `[${name}](#${anchor(name)})`
}
