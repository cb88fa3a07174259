import type { RawTask } from './raw-plan.ts'

export type Reference =
  | { readonly found: true; readonly tasks: readonly RawTask[] }
  | { readonly found: false; readonly problem: string }

/** Finds the tasks that a text names: by key, by title, by the number that a title begins with, or by its number in a list. */
export function taskReferences(
  tasks: readonly RawTask[],
  keyOf: (task: RawTask) => string,
): (text: string, from: RawTask) => readonly Reference[] {
  const byKey = Map.groupBy(tasks, (task) => keyOf(task))
  const byTitle = Map.groupBy(tasks, ({ title }) => plain(title))
  const byNumber = Map.groupBy(tasks, ({ title, number }) => plain(leadingNumber(title) || (number ?? '')))
  const find = (text: string, from: RawTask): Reference | null => {
    const name = plain(text)
    const matches = byKey.get(text) ?? byTitle.get(name) ?? (name === '' ? undefined : byNumber.get(name))
    if (!matches) return null
    const near = matches.filter(({ heading }) => heading === from.heading)
    const [one, ...more] = near.length > 0 ? near : matches
    if (one && more.length === 0) return { found: true, tasks: [one] }
    const lines = matches.map(({ line }) => line).join(', ')
    return {
      found: false,
      problem: `"${text}", which names the tasks of lines ${lines}; give the one meant a #key`,
    }
  }
  return (text, from) => {
    const whole = find(bare(text), from)
    if (whole) return [whole]
    return parts(text).map(
      (part) =>
        find(bare(part), from) ?? { found: false, problem: `"${bare(part)}", which is no task of this plan` },
    )
  }
}

/** Commas and semicolons separate, except within quotes. */
function parts(text: string): readonly string[] {
  return (text.match(/(?:"[^"]*"|[^,;"]|")+/g) ?? []).map((part) => part.trim()).filter((part) => part !== '')
}

/** Without the quotes, backticks or `#` around it. */
function bare(text: string): string {
  const trimmed = text.trim()
  return (
    (/^"(.*)"$/.exec(trimmed) ?? /^`(.*)`$/.exec(trimmed) ?? /^#(\S+)$/.exec(trimmed))?.[1]?.trim() ?? trimmed
  )
}

function plain(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/[*_`]/g, '').replace(/\s+/g, ' ').trim()
}

/** `1.2` of `1.2 Build it`, `T004` of `T004: Test it`, else nothing. */
function leadingNumber(title: string): string {
  return /^(?:[*_`]*)((?:\p{Lu}+-?)?\d+(?:\.\d+)*)(?=[.):]?\s)/u.exec(title)?.[1] ?? ''
}
