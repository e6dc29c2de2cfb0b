/**
 * Topics of an installation: `node libs/messaging/src/commands/topics.ts ensure | check | list`, with the variables that the
 * services have (KAFKA_BROKERS, KAFKA_REPLICATION, TOPIC_PREFIX, ...).
 */

import { topics } from '@restante/contracts/events'
import { messageOf } from '@restante/service/errors'
import { checkTopics, ensureTopics, listTopics } from '../topics/topics.ts'
import { fail, kafkaFromEnvironment, print, table } from './command.ts'

const USAGE = `usage: npm run topics -- ensure | check | list
  ensure  creates what is missing and corrects settings; prints what is left to a person
  check   prints how Kafka differs from the definitions; exits with 1 when it does
  list    prints the topics of this installation, dead letters included`

const definitions = Object.values(topics)

async function main(command: string | undefined): Promise<void> {
  const kafka = kafkaFromEnvironment('topics-cli')
  switch (command) {
    case 'ensure': {
      const created = await ensureTopics(kafka, definitions)
      print(created.length > 0 ? `created ${created.join(', ')}` : 'every topic exists')
      return report(await checkTopics(kafka, definitions))
    }
    case 'check': {
      const differences = await checkTopics(kafka, definitions)
      if (differences.length === 0) print('every topic is as it should be')
      return report(differences)
    }
    case 'list': {
      const found = await listTopics(kafka)
      print(
        table(
          ['topic', 'partitions', 'records', 'retention'],
          found.map((it) => [it.name, it.partitions, it.records, it.retention]),
        ),
      )
      return
    }
    default:
      fail(USAGE)
  }
}

function report(differences: readonly string[]): void {
  for (const difference of differences) print(difference)
  if (differences.length > 0) process.exitCode = 1
}

await main(process.argv[2]).catch((error: unknown) => fail(messageOf(error)))
