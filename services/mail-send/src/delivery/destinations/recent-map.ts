/** Enough for the destinations of a busy hour. */
const MOST = 20_000

/** What a process knows of destinations, by name. Beyond its size the one that was added first is forgotten. */
export class RecentMap<Value> extends Map<string, Value> {
  override set(destination: string, value: Value): this {
    if (this.size >= MOST && !this.has(destination)) {
      const [oldest] = this.keys()
      if (oldest !== undefined) this.delete(oldest)
    }
    return super.set(destination, value)
  }
}
