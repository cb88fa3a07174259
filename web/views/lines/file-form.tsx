import { useRef } from 'preact/hooks'
import { href, navigate, query } from '../../router/location.ts'

/** Asks for a file, and a line of it: `src/auth.ts:12`. */
export function FileForm() {
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    const text = field.current?.value.trim() ?? ''
    if (text === '') return
    const [, file = text, line] = /^(.+):(\d{1,9})$/s.exec(text) ?? []
    const parameters = new URLSearchParams({ file, ...(line !== undefined && { line }) })
    navigate(href(`/lines?${parameters}`))
  }
  return (
    <form class="lines-form" onSubmit={submit}>
      <label for="lines-file">File, from the top of the work tree</label>
      <input
        id="lines-file"
        ref={field}
        class="field mono"
        required
        maxLength={4_000}
        spellcheck={false}
        autocapitalize="off"
        placeholder="src/auth.ts"
        defaultValue={query.peek().get('file') ?? ''}
      />
      <button type="submit" class="button" data-kind="primary">
        Show line history
      </button>
    </form>
  )
}
