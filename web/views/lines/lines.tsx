import { useSignal } from '@preact/signals'
import { Component } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { BlameData } from '../../api/entities.ts'
import { plainText } from '../../geometry/line-parts.ts'
import { lineOwnerLabel, type ProvenanceRange, rangesBetween } from '../../geometry/line-ranges.ts'
import { linesOf } from '../../parts/line-links.ts'
import { type ColorsByLine, colorLines } from '../../parts/syntax/colors.ts'
import { LineText } from '../../parts/syntax/line-text.tsx'
import { Maker, MakerSign } from './author.tsx'

interface SourceLinesProps {
  readonly path: string
  /** Empty for the file on disk. */
  readonly rev: string
  readonly ranges: BlameData['ranges']
  readonly total: number
  /** Absent if only the authors are known. */
  readonly text: readonly string[] | undefined
  readonly line: number | null
  readonly choose: (line: number) => void
}

/** In pixels; the style sheet has the same. */
const lineHeight = 20
/** Lines beyond the edges of the visible part, above and below. */
const spare = 20
/** More text in a pane is left without colours. */
const maxColoured = 20_000

/** The lines with their authors. Only the visible lines are in the page. */
export function SourceLines({ path, rev, ranges, total, text, line, choose }: SourceLinesProps) {
  const pane = useRef<HTMLElement>(null)
  const [{ first, last }, setWindow] = useState({ first: 1, last: 60 })
  const colours = useSignal<ColorsByLine>(new Map())

  useLayoutEffect(() => {
    const { current } = pane
    if (!current) return
    const update = () => {
      const top = Math.floor(current.scrollTop / lineHeight) + 1
      const next = {
        first: Math.max(1, top - spare),
        last: top + Math.ceil(current.clientHeight / lineHeight) + spare,
      }
      // Not with every pixel: the spare lines are for that.
      setWindow((now) =>
        Math.abs(now.first - next.first) < spare / 2 && now.last - now.first === next.last - next.first
          ? now
          : next,
      )
    }
    update()
    current.addEventListener('scroll', update, { passive: true })
    const resized = new ResizeObserver(update)
    resized.observe(current)
    return () => {
      current.removeEventListener('scroll', update)
      resized.disconnect()
    }
  }, [])

  // The pointer takes any place of a line; keys step, and the number is a link.
  const choosing = useRef(choose)
  choosing.current = choose
  useEffect(() => {
    const { current } = pane
    const onClick = ({ target }: MouseEvent) => {
      if (!(target instanceof Element) || target.closest('a, button') || !getSelection()?.isCollapsed) return
      const row = target.closest<HTMLElement>('[data-line]')
      if (row) choosing.current(Number(row.dataset['line']))
    }
    current?.addEventListener('click', onClick)
    return () => current?.removeEventListener('click', onClick)
  }, [])

  const wasShown = useRef(false)
  useLayoutEffect(() => {
    const { current } = pane
    if (!current || line === null) return
    const top = (line - 1) * lineHeight
    const isSeen =
      top >= current.scrollTop + lineHeight &&
      top + 2 * lineHeight <= current.scrollTop + current.clientHeight
    // The line of an address comes in the middle; a step keeps its line in sight.
    if (!wasShown.current || Math.abs(top - current.scrollTop) > 2 * current.clientHeight)
      current.scrollTop = top - current.clientHeight / 2
    else if (!isSeen)
      current.scrollTop =
        top < current.scrollTop + lineHeight ? top - lineHeight : top + 2 * lineHeight - current.clientHeight
    wasShown.current = true
  }, [line])

  useEffect(() => {
    if (text === undefined || text.length > maxColoured) return
    const lines = text.map((one, at) => ({ kind: ' ' as const, old: at + 1, new: at + 1, text: one }))
    return colorLines(path, [{ old_start: 1, new_start: 1, lines }], (found) => {
      colours.value = found
    })
  }, [path, text, colours])

  const until = Math.min(last, total)
  const stories = useMemo(() => rangesBetween(ranges, first, until), [ranges, first, until])
  const numbers = Array.from({ length: Math.max(0, until - first + 1) }, (_, at) => first + at)
  return (
    <section
      ref={pane}
      class="lines-pane"
      aria-label={`Lines of ${plainText(path)}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys, too
      tabIndex={0}
    >
      <div
        class="lines-body"
        style={{ height: `${total * lineHeight}px`, '--digits': String(String(total).length) }}
      >
        <ol class="lines-gutter" aria-label="Author of each line">
          {stories.map((story) => (
            <Margin
              key={story.start}
              story={story}
              isChosen={line !== null && line >= story.start && line <= story.end}
            />
          ))}
        </ol>
        <ol class="lines-rows" style={{ top: `${(first - 1) * lineHeight}px` }} aria-label="Text" dir="ltr">
          {numbers.map((number) => (
            <SourceLineRow
              key={number}
              number={number}
              address={linesOf(path, { line: number, rev })}
              isChosen={number === line}
              text={text?.[number - 1] ?? ''}
              colours={colours.value.get(`new${number}`) ?? none}
              choosing={choosing}
            />
          ))}
        </ol>
      </div>
    </section>
  )
}

const none: readonly never[] = []

interface SourceRowProps {
  readonly number: number
  readonly address: string
  readonly isChosen: boolean
  readonly text: string
  readonly colours: Parameters<typeof LineText>[0]['colours']
  readonly choosing: { readonly current: (line: number) => void }
}

/** Drawn anew only when it is another one: scrolling draws those that come. */
class SourceLineRow extends Component<SourceRowProps> {
  override shouldComponentUpdate(next: SourceRowProps): boolean {
    const { address, isChosen, text, colours } = this.props
    return (
      next.text !== text || next.colours !== colours || next.isChosen !== isChosen || next.address !== address
    )
  }

  override render({ number, address, isChosen, text, colours, choosing }: SourceRowProps) {
    return (
      <li class="lines-row" data-line={number} {...(isChosen && { 'aria-current': 'true' as const })}>
        <a
          class="lines-number"
          href={address}
          tabIndex={-1}
          aria-label={`Line ${number}`}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return
            event.preventDefault()
            choosing.current(number)
          }}
        >
          {number}
        </a>
        <LineText text={text} colours={colours} changed={none} />
      </li>
    )
  }
}

/** The author of a range of lines, visible as long as one of the lines is. */
function Margin({ story, isChosen }: { readonly story: ProvenanceRange; readonly isChosen: boolean }) {
  const { start, end, kind } = story
  const { name, words, doubt } = lineOwnerLabel(story)
  const lines = start === end ? `line ${start}` : `lines ${start} to ${end}`
  return (
    <li
      class="margin"
      data-kind={kind}
      data-line={start}
      {...(doubt !== '' && { 'data-doubt': '' })}
      {...(isChosen && { 'data-chosen': '' })}
      style={{ top: `${(start - 1) * lineHeight}px`, height: `${(end - start + 1) * lineHeight}px` }}
      title={[name, words, doubt].filter((part) => part !== '').join(' · ')}
    >
      <span class="margin-label">
        <span class="margin-full">
          <Maker story={story} />
        </span>
        <span class="margin-short">
          <MakerSign story={story} />
        </span>
        <span class="visually-hidden">, {lines}</span>
      </span>
    </li>
  )
}
