import { keyLabel } from '../keys/key-label.ts'

/** The keys of a command, as they are on the keyboard. */
export function KeyCap({ keys }: { readonly keys: string }) {
  return (
    <>
      {keys.split(' ').map((key) => (
        <kbd class="key" key={key}>
          {keyLabel(key)}
        </kbd>
      ))}
    </>
  )
}
