/**
 * Finds the id that a reference means: `task-7`, `TASK-7` and `7` are one, and so are `task-7` and `BACK-7` where no other
 * task has that number, because a project may change its prefix.
 */
export function taskNames(tasks: readonly { readonly id: string }[]): (name: string) => string | null {
  const whole = new Map(tasks.toReversed().map(({ id }) => [id.toLowerCase(), id]))
  const numbered = Map.groupBy(whole.values(), numberOf)
  return (name) => {
    const exact = whole.get(name.trim().toLowerCase())
    if (exact !== undefined) return exact
    const number = numberOf(name)
    const [one, ...more] = number === null ? [] : (numbered.get(number) ?? [])
    return one !== undefined && more.length === 0 ? one : null
  }
}

function numberOf(id: string): string | null {
  return /^(?:\p{L}+-?)?(\d+(?:\.\d+)*)$/u.exec(id.trim())?.[1] ?? null
}
