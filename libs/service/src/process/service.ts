import { within } from '../concurrency/waiting.ts'
import { messageOf } from '../errors/message-of.ts'
import type { Logger } from '../telemetry/logger.ts'
import { type Component, STAGES } from './component.ts'

/**
 * Probes wait no longer than this, so that a component that does not report its state cannot hide that of the others.
 */
const ANSWER_MS = 2_000

/** A process composed of components that start in order, report readiness together, and stop in reverse order. */
export class Service {
  readonly name: string
  readonly log: Logger
  readonly #components: Component[] = []
  #started: Component[] = []
  #draining = false

  constructor(options: { name: string; log: Logger }) {
    this.name = options.name
    this.log = options.log
  }

  /**
   * Adds a component and returns it, so that composition reads as a list of declarations.
   * @throws Error for a second component of the same name: reports about the two could not be told apart, and two
   * consumers of one topic would each get half of its events.
   */
  use<P extends Component>(component: P): P {
    if (this.#components.some(({ name }) => name === component.name)) {
      throw new Error(`the service has two components named '${component.name}'`)
    }
    this.#components.push(component)
    return component
  }

  /** The components in the order in which they were added, for programs that describe a service without starting it. */
  get components(): readonly Component[] {
    return this.#components
  }

  /** Starts every component; when one fails, those already started are stopped and the failure is thrown. */
  async start(): Promise<void> {
    for (const component of inOrder(this.#components)) {
      try {
        await component.start?.()
        this.#started.unshift(component)
      } catch (error) {
        await this.stop()
        throw new Error(`${component.name} did not start: ${messageOf(error)}`, {
          cause: error,
        })
      }
    }
  }

  /** Announces the end: `/readyz` answers 503 from now on, while requests are still served. */
  drain(): void {
    this.#draining = true
  }

  /**
   * Stops every started component, last started first, and those of the stage `work` together; a failing one does not
   * keep the others from stopping.
   */
  async stop(): Promise<void> {
    this.#draining = true
    const components = this.#started
    this.#started = []
    for (const group of together(components)) {
      await Promise.all(group.map((component) => this.#stopOne(component)))
    }
  }

  async #stopOne(component: Component): Promise<void> {
    await component
      .stop?.()
      .catch((error: unknown) =>
        this.log.error({ err: error, component: component.name }, 'component did not stop cleanly'),
      )
  }

  /** @returns the name of each component that makes the service unready, with the reason; empty when it is ready. */
  async problems(): Promise<Record<string, string>> {
    if (this.#draining) return { service: 'shutting down' }
    return this.#rejected((component) => component.ready?.())
  }

  /** @returns the name of each component whose background work is stopped, with the reason. */
  degradations(): Promise<Record<string, string>> {
    return this.#rejected((component) => component.working?.())
  }

  async #rejected(check: (component: Component) => Promise<void> | undefined): Promise<Record<string, string>> {
    const checks = this.#components.map(async (component): Promise<[string, string] | undefined> => {
      try {
        await answered(check(component))
        return undefined
      } catch (error) {
        return [component.name, messageOf(error)]
      }
    })
    return Object.fromEntries((await Promise.all(checks)).filter((entry) => entry !== undefined))
  }
}

/** By stage, and within a stage as they were added: the sort is stable. */
function inOrder(components: readonly Component[]): Component[] {
  const rank = ({ stage = 'own' }: Component) => STAGES.indexOf(stage)
  return components.toSorted((a, b) => rank(a) - rank(b))
}

/** Components in the order in which they stop, each alone except those of the stage `work`. */
function together(components: readonly Component[]): Component[][] {
  const groups: Component[][] = []
  for (const component of components) {
    const group = groups.at(-1)
    if (group?.[0]?.stage === 'work' && component.stage === 'work') group.push(component)
    else groups.push([component])
  }
  return groups
}

async function answered(check: Promise<void> | undefined): Promise<void> {
  if (check === undefined) return
  await within(ANSWER_MS, check, () => {
    throw new Error(`no answer for ${ANSWER_MS} ms`)
  })
}
