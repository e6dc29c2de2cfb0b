// `npm run new-service -- <name>`: writes a service that starts in the local stack, is ready and answers one operation.
import { newService } from './new-service.ts'

const [name] = process.argv.slice(2)
try {
  const root = new URL('../..', import.meta.url).pathname
  const files = await newService(root, name ?? '', new Date())
  process.stdout.write(`${files.join('\n')}\n
Next:
  npx pnpm install
  npx biome check --write
  npm run generate:docs
  npm test -- services/${name} deploy/local/test/environment
  npm start

The operation and its table are an example: replace them. See docs/how-to-add.md.\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
