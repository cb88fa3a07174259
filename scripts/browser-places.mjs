// Where a Chromium may be that is there already. Plain ESM without packages.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
]

/** The first one that runs, of the path and of the usual places of this system; null when there is none. */
export function presentBrowser(runs) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const onPath = folders.flatMap((folder) => names.map((name) => join(folder, `${name}${suffix}`)))
  const path = [...onPath, ...usualPlaces()].find((path) => existsSync(path) && runs({ path }))
  return path === undefined ? null : { path }
}

/** `CHROMIUM_PLACES`, a list like PATH, takes their place. */
function usualPlaces() {
  const { CHROMIUM_PLACES, HOME = '' } = process.env
  if (CHROMIUM_PLACES !== undefined) return CHROMIUM_PLACES.split(delimiter).filter((path) => path !== '')
  if (process.platform === 'darwin') return ofMac(['', HOME])
  if (process.platform === 'win32') return ofWindows()
  return ['/usr/bin/chromium', '/usr/bin/google-chrome', '/opt/google/chrome/chrome', '/snap/bin/chromium']
}

function ofMac(homes) {
  const programs = ['Chromium', 'Google Chrome', 'Microsoft Edge']
  return homes.flatMap((home) =>
    programs.map((name) => `${home}/Applications/${name}.app/Contents/MacOS/${name}`),
  )
}

function ofWindows() {
  const { ProgramFiles, 'ProgramFiles(x86)': x86, LOCALAPPDATA } = process.env
  const programs = ['Google\\Chrome\\Application\\chrome.exe', 'Chromium\\Application\\chrome.exe']
  const machine = 'Microsoft\\Edge\\Application\\msedge.exe'
  const folders = [ProgramFiles, x86, LOCALAPPDATA].filter((folder) => folder !== undefined)
  return folders.flatMap((folder) => [...programs, machine].map((program) => join(folder, program)))
}
