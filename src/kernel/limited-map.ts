/** Sets an entry as the newest of a map; over `max` entries, the oldest goes. */
export function setNewest<Key, Value>(map: Map<Key, Value>, max: number, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}

const maxRememberedLength = 300

/** The same function, which remembers its newest answers for short texts. */
export function rememberAnswers<Answer>(
  max: number,
  compute: (text: string) => Answer,
): (text: string) => Answer {
  const answers = new Map<string, { readonly answer: Answer }>()
  return (text) => {
    if (text.length > maxRememberedLength) return compute(text)
    const known = answers.get(text)
    if (known !== undefined) return known.answer
    const answer = compute(text)
    setNewest(answers, max, text, { answer })
    return answer
  }
}
