import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Card } from './card-state.ts'
import type { TimelineModel } from './model.ts'

export interface TimelineContext {
  readonly model: TimelineModel
  readonly card: Card
}

export const Context = createContext<TimelineContext | null>(null)

export function useTimeline(): TimelineContext {
  const context = useContext(Context)
  if (!context) throw new Error('A row of the timeline is drawn outside of a timeline.')
  return context
}
