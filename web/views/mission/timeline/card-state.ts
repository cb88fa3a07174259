import { type ReadonlySignal, signal } from '@preact/signals'
import type { TaskRow } from '../../../geometry/lane-rows.ts'
import type { TimelineMark, TimelineSpan, TimelineTask } from './source.ts'

/** What the card tells of, and where that is on the screen. */
export interface CardSubject {
  readonly row: TaskRow<TimelineTask, TimelineSpan>
  readonly spans: readonly TimelineSpan[]
  readonly marks: readonly TimelineMark[]
  readonly box: { readonly x: number; readonly top: number; readonly bottom: number }
}

export interface Card {
  readonly subject: ReadonlySignal<CardSubject | null>
  readonly show: (subject: CardSubject) => void
  readonly hide: () => void
}

/** A pointer that only passes opens nothing; milliseconds. */
const patience = 90

export function createCard(): Card {
  const subject = signal<CardSubject | null>(null)
  let waiting = 0
  return {
    subject,
    show: (next) => {
      clearTimeout(waiting)
      waiting = window.setTimeout(
        () => {
          subject.value = next
        },
        subject.value ? 0 : patience,
      )
    },
    hide: () => {
      clearTimeout(waiting)
      waiting = window.setTimeout(() => {
        subject.value = null
      }, patience)
    },
  }
}
