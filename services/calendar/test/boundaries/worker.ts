import { BoundaryProcess } from './process.ts'

// A replica that tests kill. Arguments: URL of the database, URL of Redis, prefix of its keys.
const [databaseUrl = '', redisUrl = '', prefix = ''] = process.argv.slice(2)
const { timers } = new BoundaryProcess({ databaseUrl, redisUrl, prefix })
await timers.start()
process.stdout.write('started\n')
