import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { removeContained } from './contained-file.ts'

export interface Machine {
  readonly platform: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Absolute path of the user's home. */
  readonly home: string
}

/** The platform's folder for state of programs: outside of every project, so that no repository contains it. */
export function stateFolder({ platform, environment, home }: Machine): string {
  if (platform === 'win32') return `${environment['LOCALAPPDATA'] ?? `${home}\\AppData\\Local`}\\waymark`
  if (platform === 'darwin') return `${home}/Library/Application Support/waymark`
  const configured = environment['XDG_STATE_HOME']
  // The XDG specification: a relative path is invalid and to be ignored.
  return join(configured?.startsWith('/') ? configured : `${home}/.local/state`, 'waymark')
}

/**
 * Removes Waymark's files in a state folder; returns whether they are gone. Others can write to such a folder in a project,
 * so no part of its path may be a link.
 */
export function removeFromState(folder: string, path: string): boolean {
  const end = folder.lastIndexOf(`${sep}.waymark${sep}state${sep}`)
  return !('reason' in removeContained(end < 0 ? folder : folder.slice(0, end), path))
}

/** Whether files can be written in a folder, or in the nearest one above that exists. Creates nothing. */
export function canWrite(folder: string): boolean {
  const stats = statOf(folder)
  if (!stats) return dirname(folder) !== folder && canWrite(dirname(folder))
  if (!stats.isDirectory()) return false
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // a file where a folder should be: the walk upwards meets it
  }
}
