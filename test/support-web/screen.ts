import { Window } from 'happy-dom'
import { type ComponentType, h, render } from 'preact'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import WebSocket from 'ws'
import { importView } from './preact-modules.ts'
import { openRecordedDay } from './recorded-day.ts'
import { openServingDay, type ServingDay } from './serving-day.ts'

/** The dashboard in a document without a browser: it has no layout, and needs no time to start. */
export interface OpenScreen {
  readonly serving: ServingDay
  /** What is read in an element, the whole page if none is named: one space between words. */
  readonly text: (selector?: string) => string
  /** Waits until the page, or an element of it, has a text. */
  readonly see: (text: string | RegExp, selector?: string) => Promise<void>
  readonly all: (selector: string) => readonly HTMLElement[]
  /** The buttons, links and options with this name, in the order of the page. */
  readonly named: (name: string) => readonly HTMLElement[]
  /** Waits for a button, link or option that can be used, and clicks it. */
  readonly click: (name: string) => Promise<void>
  readonly key: (key: string) => void
  /** Fills the field with this label. */
  readonly fill: (label: string, value: string) => Promise<void>
  /** The texts of the options of a field. */
  readonly options: (label: string) => readonly string[]
  readonly go: (path: string) => void
  readonly path: () => string
}

interface ScreenOptions {
  /** What has happened before. */
  readonly fill?: (day: ServingDay['day'], serving: ServingDay) => Promise<unknown>
  readonly recorded?: boolean
  /** The projects are in one database, which knows persons. */
  readonly team?: boolean
}

// Node's own stay: timers of tests, the network, and what the server beneath the page is made of.
const replaced = [
  'Event',
  'CustomEvent',
  'MessageEvent',
  'navigator',
  'WebSocket',
  'Worker',
  'fetch',
  'requestAnimationFrame',
  'cancelAnimationFrame',
] as const

/** One server with a project for the tests of a file; each test has a page of its own. */
export function useScreens({ fill, recorded = false, team = false }: ScreenOptions = {}) {
  let serving: ServingDay | undefined
  let close: (() => Promise<void>) | undefined
  beforeAll(async () => {
    serving = recorded ? await openRecordedDay({ isDemo: true }) : await openServingDay({ team })
    await fill?.(serving.day, serving)
  })
  afterEach(async () => {
    await close?.()
    close = undefined
  })
  afterAll(() => serving?.stop())
  return {
    serving: () => {
      if (!serving) throw new Error('the server was started before the tests')
      return serving
    },
    open: async (path: string, token?: string): Promise<OpenScreen> => {
      if (!serving) throw new Error('the server was started before the tests')
      // Two at once would leave the globals of the first one behind.
      await close?.()
      close = undefined
      const { screen, close: end } = await openScreen(serving, path, token)
      close = end
      // From now on keys count, and what changes is told.
      await expect.poll(() => screen.all('.live[data-state="live"]').length).toBe(1)
      return screen
    },
  }
}

/** A page on a server; one at a time, until it is closed. */
export async function openScreen(serving: ServingDay, path: string, token?: string) {
  const cookie = await signIn(serving, token)
  const window = new Window({ url: `${serving.address}${path}`, width: 1280, height: 820 })
  const sockets = new Set<WebSocket>()
  const restore = installGlobals(window, { address: serving.address, cookie, sockets })
  try {
    return await renderScreen(serving, path, { window, sockets, restore })
  } catch (error) {
    restore()
    throw error
  }
}

interface InstalledWindow {
  readonly window: Window
  readonly sockets: ReadonlySet<WebSocket>
  readonly restore: () => void
}

async function renderScreen(
  serving: ServingDay,
  path: string,
  { window, sockets, restore }: InstalledWindow,
) {
  const page: HTMLElement = document.createElement('div')
  document.body.append(page)
  const [{ App }, { readSession }, location]: readonly [
    { App: ComponentType },
    { readSession: () => Promise<void> },
    { replaceWith: (to: string) => void; navigate: (to: string) => void },
  ] = [
    await importView('shell/app.tsx'),
    await importView('api/session.ts'),
    await importView('router/location.ts'),
  ]
  location.replaceWith(path)
  await readSession()
  render(h(App, {}), page)
  const close = async () => {
    render(null, page)
    // Preact ends effects after a frame.
    await new Promise((resolve) => setTimeout(resolve, 60))
    // On a busy machine that frame ends only now, and its work is in a timer.
    await new Promise((resolve) => setTimeout(resolve, 20))
    for (const socket of sockets) Object.assign(socket, { onclose: null, onmessage: null }).terminate()
    // Not awaited: the promise also waits for work that begins later, and in one run it never resolved.
    void window.happyDOM.abort()
    restore()
  }
  return { screen: screenOf(serving, location.navigate), close }
}

async function signIn(serving: ServingDay, token: string | undefined): Promise<string> {
  const { headers } = await fetch(serving.login(token), { redirect: 'manual' })
  return headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

interface Network {
  readonly address: string
  readonly cookie: string
  readonly sockets: Set<WebSocket>
}

/** Puts the window's names where scripts look for them, and answers how to take them away. */
function installGlobals(window: Window, { address, cookie, sockets }: Network): () => void {
  const wire = globalThis.fetch
  const own: Record<string, unknown> = {
    fetch: (path: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers)
      headers.set('Cookie', cookie)
      return wire(new URL(path, address), { ...init, headers })
    },
    // Lines keep one color.
    Worker: class extends EventTarget {
      postMessage(): void {}
      terminate(): void {}
    },
    WebSocket: class extends WebSocket {
      constructor(of: URL) {
        super(of, { headers: { cookie } })
        // In a browser nothing is thrown where it is closed too early.
        this.on('error', () => undefined)
        sockets.add(this)
      }
    },
  }
  const from = window as unknown as Record<string, unknown>
  const names = [
    ...replaced,
    'document',
    ...Object.getOwnPropertyNames(window).filter((name) => !(name in globalThis)),
  ]
  const before = new Map(
    names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const),
  )
  for (const name of names)
    Object.defineProperty(globalThis, name, {
      value: own[name] ?? from[name],
      configurable: true,
      writable: true,
    })
  return () => {
    for (const [name, descriptor] of before) {
      // Preact still cancels frames for a moment, and the clock of the page ticks on.
      if (name.endsWith('AnimationFrame') || name === 'document') continue
      if (descriptor) Object.defineProperty(globalThis, name, descriptor)
      else Reflect.deleteProperty(globalThis, name)
    }
  }
}

const clickable = 'button, a, summary, [role=option]'

function screenOf(serving: ServingDay, go: (path: string) => void): OpenScreen {
  const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]
  const text = (selector = 'body') => all(selector).map(wordsOf).join('\n')
  const named = (name: string) =>
    all(clickable).filter((element) => (element.getAttribute('aria-label') ?? wordsOf(element)) === name)
  const isUsable = (element: HTMLElement) => !element.hasAttribute('disabled')
  const field = (label: string) => {
    const found = all('label').find((element) => wordsOf(element).startsWith(label))
    const input = found
      ? document.getElementById(found.getAttribute('for') ?? '')
      : all(`[aria-label="${label}"]`)[0]
    return input as HTMLInputElement | HTMLSelectElement | null | undefined
  }
  return {
    serving,
    all,
    text,
    named,
    go,
    path: () => `${location.pathname}${location.search}`,
    see: async (wanted, selector) => {
      const expected =
        typeof wanted === 'string' ? expect.stringContaining(wanted) : expect.stringMatching(wanted)
      await expect.poll(() => text(selector)).toEqual(expected)
    },
    click: async (name) => {
      await expect.poll(() => named(name).filter(isUsable).length, { message: name }).toBeGreaterThan(0)
      named(name).find(isUsable)?.click()
    },
    key: (key) => {
      const target = document.activeElement ?? document.body
      target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    },
    fill: async (label, value) => {
      await expect.poll(() => field(label), { message: label }).toBeTruthy()
      const input = field(label)
      if (!input) return
      input.value = value
      input.dispatchEvent(new Event('input', { bubbles: true }))
      input.dispatchEvent(new Event('change', { bubbles: true }))
    },
    options: (label) => [...(field(label)?.querySelectorAll('option') ?? [])].map(wordsOf),
  }
}

/** The text as it is read: elements do not run together. */
function wordsOf(element: Element): string {
  const spaced = (node: Node): string => {
    if (node.nodeType === Node.TEXT_NODE) return node.textContent ?? ''
    return ` ${[...node.childNodes].map(spaced).join('')} `
  }
  return spaced(element).replace(/\s+/g, ' ').trim()
}
