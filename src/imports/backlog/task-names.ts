/** Finds the id that a reference means: `task-7`, `TASK-7` and `7` are one. */
export function taskNames(tasks: readonly { readonly id: string }[]): (name: string) => string | null {
  const whole = new Map(tasks.toReversed().map(({ id }) => [id.toLowerCase(), id]))
  const bare = Map.groupBy(tasks, ({ id }) => numberOf(id))
  return (name) => {
    const exact = whole.get(name.trim().toLowerCase())
    if (exact !== undefined) return exact
    const [one, ...more] = /^[\d.]+$/.test(name.trim()) ? (bare.get(name.trim()) ?? []) : []
    return one && more.every(({ id }) => id.toLowerCase() === one.id.toLowerCase()) ? one.id : null
  }
}

function numberOf(id: string): string {
  return /[\d.]+$/.exec(id)?.[0] ?? id
}
