import { computed, signal } from '@preact/signals'
import { meantPath } from './meant-path.ts'

/** Where the page is: every view and every selection is an address. */
const address = signal(read())

/** `/p/<key>`, or empty for the server's first project. */
export const base = computed(() => baseOf(address.value.path))

/** The path inside the project, `/` at least. */
export const path = computed(() => address.value.path.slice(base.value.length) || '/')

export const query = computed(() => new URLSearchParams(address.value.search))

/** The address of a path inside the project that is shown. */
export function href(inside: string): string {
  return `${base.value}${inside}`
}

export function navigate(to: string): void {
  history.pushState(null, '', to)
  follow()
  document.querySelector('.page')?.scrollTo(0, 0)
}

/** Goes to another view in place of this one: the browser's way back passes it over. */
export function replaceWith(to: string): void {
  history.replaceState(null, '', to)
  follow()
}

/** Changes the query in place: a selection or a filter is no step back. Null takes a name out. */
export function setQuery(changes: Readonly<Record<string, string | null>>): void {
  const next = new URLSearchParams(address.value.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  }
  const search = next.size === 0 ? '' : `?${next}`
  if (search === address.value.search) return
  history.replaceState(null, '', `${address.value.path}${search}`)
  follow()
}

/** Follows the browser's buttons, and every plain click on a link of ours. Answers its stop. */
export function listenToNavigation(): () => void {
  const listening = new AbortController()
  const { signal: until } = listening
  window.addEventListener('popstate', follow, { signal: until })
  document.addEventListener('click', handleLinkClick, { signal: until })
  return () => listening.abort()
}

function handleLinkClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link?.href || link.target || link.origin !== location.origin || link.hasAttribute('download')) return
  event.preventDefault()
  navigate(`${link.pathname}${link.search}`)
}

function follow(): void {
  address.value = read()
}

/** A typed address that means another page becomes its address. */
function read() {
  const { pathname, search } = location
  const inProject = baseOf(pathname)
  const meant = meantPath(pathname.slice(inProject.length))
  if (meant === null) return { path: pathname, search }
  history.replaceState(null, '', `${inProject}${meant}${search}`)
  return { path: `${inProject}${meant}`, search }
}

function baseOf(pathname: string): string {
  return /^\/p\/[^/]+/.exec(pathname)?.[0] ?? ''
}
