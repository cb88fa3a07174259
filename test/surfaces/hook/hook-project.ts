import { join } from 'node:path'
import { type Ran, runProgram, type Variables } from '../../support/program.ts'
import { type CommandLineProject, openCommandLine } from '../cli/command-line.ts'

export interface HookProject extends CommandLineProject {
  /** Calls a hook with what a client would say; `cwd` is the project's folder unless the payload says otherwise. */
  readonly hook: (event: string, payload?: object, environment?: Variables) => Ran
  /** The decision on a call of a tool: `none`, `ask` or `deny`, and why. */
  readonly decide: (tool: string, input?: object, payload?: object) => Decision
  /** Calls a hook with this very text on standard input. */
  readonly raw: (words: readonly string[], text: string, environment?: Variables) => Ran
  /** Starts a task with these areas, and answers its ids. */
  readonly startTask: (name: string, areas: readonly string[], ...flags: readonly string[]) => StartedTask
  readonly createRun: (...flags: readonly string[]) => string
}

export interface Decision {
  readonly decision: string
  readonly reason: string
}

export interface StartedTask {
  readonly task_id: string
  readonly attempt_id: string
}

/** A project whose process `gated` restricts its first state alone. */
export function openHookProject(options: Parameters<typeof openCommandLine>[0] = {}): HookProject {
  const project = openCommandLine(options)
  project.write('.waymark/processes/gated.yaml', gated)
  const raw: HookProject['raw'] = (words, text, environment = {}) =>
    runProgram(words, {
      folder: project.folder,
      environment: { ...project.environment, ...environment },
      input: text,
    })
  const hook: HookProject['hook'] = (event, payload = {}, environment = {}) => {
    const said = { session_id: 's', cwd: project.folder, hook_event_name: claudeNames[event], ...payload }
    return raw(['hook', event], JSON.stringify(said), environment)
  }
  const decide: HookProject['decide'] = (tool, input = {}, payload = {}) => {
    const ask = () => hook('pre-tool-use', { tool_name: tool, tool_input: input, ...payload })
    let ran = ask()
    // A hook gives up where the machine keeps it waiting: what it decides is asked here, not how soon.
    for (let tries = 1; tries < 10 && /did not answer in \d+ ms/.test(ran.error); tries += 1) ran = ask()
    return decisionOf(ran)
  }
  return {
    ...project,
    raw,
    hook,
    decide,
    startTask: (name, areas, ...flags) =>
      project.json('task', 'start', name, ...areas.flatMap((area) => ['--areas', area]), ...flags),
    createRun: (...flags) => project.json('run', 'create', 'gated', ...flags).run_id,
  }
}

export function decisionOf({ code, out, error }: Ran): Decision {
  if (code !== 0 || error !== '') throw new Error(`the hook ended with ${code}: ${error}`)
  if (out === '') return { decision: 'none', reason: '' }
  const { hookSpecificOutput } = JSON.parse(out)
  if (hookSpecificOutput.hookEventName !== 'PreToolUse')
    throw new Error(`an answer for ${hookSpecificOutput.hookEventName}`)
  return {
    decision: hookSpecificOutput.permissionDecision,
    reason: hookSpecificOutput.permissionDecisionReason,
  }
}

export function fileIn(folder: string, path: string): { readonly file_path: string } {
  return { file_path: join(folder, path) }
}

const claudeNames: Readonly<Record<string, string>> = {
  'pre-tool-use': 'PreToolUse',
  'session-start': 'SessionStart',
  stop: 'Stop',
}

const gated = `
process:
  dialect: 1
  id: gated
  version: "1.0.0"
  name: Gated
  initial_state: plan
  initial_context: { request: the form }
roles:
  - { name: agent, kind: agent }
  - { name: reviewer, kind: human }
states:
  - name: plan
    prompt: "Plan {{context.request}}."
    tool_permissions:
      allowed: [Read, Grep, Write, WebFetch, "mcp__github__*"]
      denied: [Bash, mcp__github__delete_repository]
      ask: [WebFetch, Edit]
      paths: { Write: ["docs/**"], Grep: ["src/**"] }
  - { name: build }
  - { name: done, is_final: true }
events:
  - { name: submit_plan, allowed_roles: [agent] }
  - { name: approve, allowed_roles: [reviewer] }
transitions:
  - { from: plan, event: submit_plan, to: build }
  - { from: build, event: approve, to: done }
`
