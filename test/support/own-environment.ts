import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Programs that Waymark looks for on the PATH: a test that needs one brings it. */
const lookedFor =
  /^(?:waymark|waymark-capture|claude|codex|gemini|opencode|copilot|cursor|cursor-agent|code|code-insiders|windsurf|devin|zed|cline|goose|antigravity|notify-send|xdg-open|open)(?:\.(?:exe|cmd|bat|ps1))?$/i

/** Variables of a person, a client or a terminal that change what a program does. */
const foreign =
  /^(?:WAYMARK_(?!TEST|SOAK)|TASKMAN_|XDG_|CLAUDE|CURSOR|CODEX|GEMINI|COPILOT|VSCODE|OTEL_|npm_config_|NO_COLOR$|FORCE_COLOR$|CLICOLOR|COLUMNS$|LINES$|TERM_PROGRAM|EDITOR$|VISUAL$|PAGER$|BROWSER$|DISPLAY$|WAYLAND_DISPLAY$|PG[A-Z]+$)/i

/**
 * Makes the run independent of whose machine this is: a home folder that is empty, a PATH without the programs that
 * Waymark looks for, the same time zone, and nothing of the settings of a person, a client or a terminal.
 */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-tests-'))
  const home = join(folder, 'home')
  mkdirSync(home)
  for (const name of Object.keys(process.env)) if (foreign.test(name)) delete process.env[name]
  process.env.HOME = home
  process.env.TZ = 'UTC'
  process.env.PATH = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((path) => path !== '')
    .map((path, at) => withoutLookedFor(path, join(folder, `bin-${at}`)))
    .join(delimiter)
  return () => rmSync(folder, { recursive: true, force: true })
}

/** The folder itself, or one with links to all programs in it but those. */
function withoutLookedFor(path: string, instead: string): string {
  let names: readonly string[]
  try {
    names = readdirSync(path)
  } catch {
    return path
  }
  if (process.platform === 'win32' || !names.some((name) => lookedFor.test(name))) return path
  mkdirSync(instead)
  for (const name of names) if (!lookedFor.test(name)) symlinkSync(join(path, name), join(instead, name))
  return instead
}
