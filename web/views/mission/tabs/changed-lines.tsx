/** Of five squares, how many are lines that came. */
const squares = 5

/** Lines that came and went, in numbers and at a glance. */
export function ChangedLines({ added, deleted }: { readonly added: number; readonly deleted: number }) {
  const whole = added + deleted
  const green =
    whole === 0
      ? 0
      : Math.min(
          Math.max(Math.round((added / whole) * squares), added > 0 ? 1 : 0),
          deleted > 0 ? squares - 1 : squares,
        )
  return (
    <>
      <span class="changed-numbers">
        <span class="added">+{added}</span> <span class="deleted">−{deleted}</span>
      </span>
      <span class="squares" aria-hidden="true">
        {Array.from({ length: squares }, (_, place) => (
          <i key={place} data-kind={whole === 0 ? 'none' : place < green ? 'added' : 'deleted'} />
        ))}
      </span>
    </>
  )
}
