// npm start serves this checkout; npm run demo plays the recorded day. A browser opens where a person can see one.
import { fileURLToPath } from 'node:url'

const root = new URL('..', import.meta.url)
const [what, ...words] = process.argv.slice(2)
const asked = what === 'demo' ? ['demo', 'play'] : ['serve', '--project', fileURLToPath(root)]
const given = what === undefined || what === 'demo' ? words : [what, ...words]

if (what !== 'demo') {
  console.log('Serving the dashboard on the record of this checkout; Ctrl-C ends it.')
  console.log('To see a day of work in it instead: npm run demo')
}
const bin = new URL('bin/waymark.js', root)
process.argv = [
  process.execPath,
  fileURLToPath(bin),
  ...asked,
  ...(seesBrowser() ? ['--open'] : []),
  ...given,
]
await import(bin.href)

/** Whether a person looks at this terminal, on a machine that shows windows. */
function seesBrowser(): boolean {
  const { CI, DISPLAY, WAYLAND_DISPLAY } = process.env
  if (CI || !process.stdout.isTTY || given.includes('--open')) return false
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY)
}
