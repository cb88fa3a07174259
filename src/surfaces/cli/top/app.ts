import { Box, render, Text, useApp, useInput, useWindowSize } from 'ink'
import { createElement, useCallback, useEffect, useState } from 'react'
import { messageOf } from '../../../kernel/failure.ts'
import type { TextStyle } from '../terminal.ts'
import { type ScreenAction, type TopCard, verbsOf } from './actions.ts'
import { type ScreenData, type ScreenState, screenLines, selectedCard, type TextSpan } from './screen.ts'

/** The project of the screen, with its calls. */
export interface ScreenSource {
  readonly project: string
  read(): Promise<ScreenData>
  /** Calls after each possible change, until the signal aborts. */
  follow(changed: () => void, signal: AbortSignal): void
  act(operation: ScreenAction['operation'], input: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Suspends this process, as Ctrl-Z does, and returns when it continues. */
  pause(): Promise<void>
}

interface FullScreen {
  /** Resolves when the person quits. */
  readonly left: Promise<unknown>
  /** Closes it at once. */
  readonly close: () => void
}

/** Fills the screen until the person quits, then restores it. */
export function showTop(
  topped: ScreenSource,
  { stdin, stdout }: Pick<NodeJS.Process, 'stdin' | 'stdout'>,
): FullScreen {
  const options = { stdin, stdout, exitOnCtrlC: false, patchConsole: false, alternateScreen: true }
  const screen = render(createElement(Top, { topped }), { ...options, interactive: true })
  return { left: screen.waitUntilExit(), close: () => screen.unmount() }
}

/** Milliseconds between two reads without changes, and between two ticks of the clock. */
const refreshEveryMs = 15_000
const tick = 1_000

function Top({ topped }: { readonly topped: ScreenSource }) {
  const { exit, suspendTerminal } = useApp()
  const { columns, rows } = useWindowSize()
  const [data, setData] = useState<ScreenData | null>(null)
  const [state, setState] = useState<ScreenState>({ selected: null, asking: null, message: null })
  const [now, setNow] = useState(() => Date.now())
  const say = useCallback(
    (text: string, isRefusal: boolean) => setState((before) => ({ ...before, message: { text, isRefusal } })),
    [],
  )
  const refresh = useCallback(async () => {
    try {
      setData(await topped.read())
    } catch (error) {
      say(messageOf(error), true)
    }
  }, [topped, say])
  useEffect(() => {
    const ending = new AbortController()
    const refreshLater = coalesceRuns(refresh)
    refreshLater()
    topped.follow(refreshLater, ending.signal)
    const timers = [setInterval(refreshLater, refreshEveryMs), setInterval(() => setNow(Date.now()), tick)]
    return () => {
      ending.abort()
      for (const timer of timers) clearInterval(timer)
    }
  }, [topped, refresh])
  const card = data && selectedCard(data, state)
  const act = async (verb: ScreenAction, about: TopCard, words: string) => {
    setState({ selected: about.item_id, asking: null, message: null })
    try {
      const seen = about.content === null ? {} : { content: about.content }
      await topped.act(verb.operation, { ...verb.input(about, words), ...seen })
      say(`${verb.label}: ${about.task_name ?? about.item_id}`, false)
    } catch (error) {
      say(wholeMessage(error), true)
    }
    await refresh()
  }
  useInput((input, key) => {
    if (key.ctrl && input === 'c') return exit()
    if (key.ctrl && input === 'z') return void suspendTerminal(() => topped.pause())
    if (state.asking !== null) return write(state.asking, input, key)
    if (input === 'q') return exit()
    const cards = data?.cards ?? []
    const at = cards.findIndex(({ item_id }) => item_id === card?.item_id)
    const step = input === 'j' || key.downArrow ? 1 : input === 'k' || key.upArrow ? -1 : 0
    if (step !== 0) {
      const next = cards[Math.max(0, Math.min(cards.length - 1, at + step))]
      return setState({ selected: next?.item_id ?? null, asking: null, message: null })
    }
    const verb = card && verbsOf(card).find(({ key }) => key === input)
    if (!card || !verb) return
    if (verb.asks === undefined) return void act(verb, card, '')
    setState({ selected: card.item_id, asking: { verb, about: card.item_id, words: '' }, message: null })
  })
  const write = (
    asking: NonNullable<ScreenState['asking']>,
    input: string,
    key: {
      readonly return: boolean
      readonly escape: boolean
      readonly backspace: boolean
      readonly delete: boolean
    },
  ) => {
    const { words, about, verb } = asking
    if (key.escape) return setState({ ...state, asking: null })
    if (key.return) {
      const meant = data?.cards.find(({ item_id }) => item_id === about)
      if (meant) return void act(verb, meant, words.trim())
      return setState({
        ...state,
        asking: null,
        message: { text: `${about} was answered meanwhile.`, isRefusal: true },
      })
    }
    const next =
      key.backspace || key.delete
        ? Array.from(words).slice(0, -1).join('')
        : words + input.replace(/\s+/g, ' ')
    setState({ ...state, asking: { ...asking, words: next } })
  }
  const lines = screenLines(data, state, { columns, rows, project: topped.project, now })
  return createElement(
    Box,
    { flexDirection: 'column', width: columns, height: rows, overflow: 'hidden' },
    ...lines.map((line, key) =>
      createElement(
        Text,
        { key, wrap: 'truncate-end' },
        ...line.map((span, part) => createElement(Text, { key: part, ...spanProps(span) }, span.text)),
      ),
    ),
  )
}

function spanProps({ style, isInverse = false }: TextSpan) {
  return { inverse: isInverse, ...(style && looks[style]) }
}

const looks = {
  bold: { bold: true },
  dim: { dimColor: true },
  italic: { italic: true },
  red: { color: 'red' },
  green: { color: 'green' },
  yellow: { color: 'yellow' },
  cyan: { color: 'cyan' },
} as const satisfies Record<TextStyle, object>

/** The message with its hint. */
function wholeMessage(error: unknown): string {
  const hint = typeof error === 'object' && error !== null && 'hint' in error ? error.hint : undefined
  return typeof hint === 'string' ? `${messageOf(error)} ${hint}` : messageOf(error)
}

/** Requests during a run share one more run. */
function coalesceRuns(run: () => Promise<void>): () => void {
  let [isRunning, isWanted] = [false, false]
  const start = () => {
    if (isRunning) {
      isWanted = true
      return
    }
    isRunning = true
    void run().finally(() => {
      isRunning = false
      if (!isWanted) return
      isWanted = false
      start()
    })
  }
  return start
}
