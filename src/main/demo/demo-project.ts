import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fact } from '../../domain/fact.ts'
import type { Environment } from '../settings/environment.ts'
import { layOut } from './lay-out.ts'
import { readRecording, recordingFiles } from './recording.ts'

/** The project of a recorded day in a temporary folder, before anything happened. */
export interface DemoProject {
  readonly home: string
  /** Its main work tree. */
  readonly folder: string
  /** Keeps everything that the program keeps of it in the same temporary folder. */
  readonly environment: Environment
  readonly facts: readonly Fact[]
  remove(): void
}

export async function openDemoProject(recording: string = shippedRecording()): Promise<DemoProject> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-demo-')))
  const remove = () => rmSync(home, { recursive: true, force: true })
  try {
    const read = readRecording(recording, home)
    const folder = await layOut(read, home)
    return { home, folder, environment: environmentIn(home), facts: read.facts, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** The folder `demo` at the top of the package: beside the bundle, or three folders above this file. */
function shippedRecording(): string {
  const beside = join(import.meta.dirname, '..', 'demo')
  if (existsSync(join(beside, recordingFiles.journal))) return beside
  return join(import.meta.dirname, '..', '..', '..', 'demo')
}

/** Every variable by which somebody names another project, database or state is left out. */
function environmentIn(home: string): Environment {
  const entries = Object.entries(process.env).filter(
    ([name]) =>
      !/^(WAYMARK|TASKMAN|STATE_GATE|GIT|CLAUDE|CURSOR|GEMINI)_|^WORKSPACE_FOLDER_PATHS$/.test(name),
  )
  const state = { XDG_STATE_HOME: join(home, 'state'), LOCALAPPDATA: join(home, 'state') }
  return {
    ...Object.fromEntries(entries),
    HOME: join(home, 'home'),
    USERPROFILE: join(home, 'home'),
    ...state,
  }
}
