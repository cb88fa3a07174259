import { useRef } from 'preact/hooks'
import { useCommands } from '../keys/commands.ts'
import { query, setQuery } from '../router/location.ts'

/** Narrows a list by words, which are in the address; `f` goes to it, Esc leaves it. */
export function FilterField() {
  const field = useRef<HTMLInputElement>(null)
  useCommands({ filter: () => field.current?.focus() })
  return (
    <input
      ref={field}
      class="field"
      type="search"
      placeholder="Filter (F)"
      aria-label="Filter by words"
      value={query.value.get('words') ?? ''}
      onInput={({ currentTarget }) => setQuery({ words: currentTarget.value })}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') currentTarget.blur()
      }}
    />
  )
}
