import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type CapturedFolder, openCaptured } from './captured-project.ts'

const now = () => new Date().toISOString()
const hourAgo = () => new Date(Date.now() - 3_600_000).toISOString()

function transcript(project: CapturedFolder, path: string, lines: readonly object[]): string {
  const file = join(project.home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

async function stopOf(project: CapturedFolder) {
  const hookEvents = await project.drain()
  const stop = hookEvents.find(({ what }) => what.kind === 'stopped')
  return {
    usage: stop?.what.kind === 'stopped' ? stop.what.usage : undefined,
    model: stop?.model,
    client: stop?.client,
  }
}

test('tokens and model of a turn are read from the transcript of Claude Code', async () => {
  const project = openCaptured()
  const answer = (id: string, output: number, timestamp: string) => ({
    type: 'assistant',
    timestamp,
    version: '2.1.330',
    message: {
      id,
      model: 'claude-opus-4-6',
      content: [{ type: 'text', text: 'never read' }],
      usage: {
        input_tokens: 10,
        output_tokens: output,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 5,
      },
    },
  })
  const said = { session_id: 's', cwd: project.folder, prompt_id: 'p1' }
  project.tell('claude', { ...said, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  const transcript_path = transcript(project, '.claude/projects/p/s.jsonl', [
    answer('m0', 1000, hourAgo()),
    { type: 'user', timestamp: now() },
    // One answer is written in parts, the last of which has the whole count.
    answer('m1', 1, now()),
    answer('m1', 20, now()),
    answer('m2', 30, now()),
  ])
  project.tell('claude', { ...said, hook_event_name: 'Stop', transcript_path })
  expect(await stopOf(project)).toEqual({
    usage: { input: 30, output: 50, cached: 200 },
    model: 'claude-opus-4-6',
    client: { name: 'claude', version: '2.1.330' },
  })
})

test('the tokens of a subagent are those of its own transcript, all of it', async () => {
  const project = openCaptured()
  const answer = (id: string, output: number, timestamp: string) => ({
    timestamp,
    message: { id, model: 'claude-haiku-4-5', usage: { input_tokens: 7, output_tokens: output } },
  })
  const said = { session_id: 's', cwd: project.folder, agent_id: 'g1', agent_type: 'Explore' }
  project.tell('claude', { ...said, hook_event_name: 'SubagentStart' })
  const agent_transcript_path = transcript(project, '.claude/projects/p/agent-g1.jsonl', [
    answer('m0', 1000, hourAgo()),
    answer('m1', 20, now()),
  ])
  project.tell('claude', { ...said, hook_event_name: 'SubagentStop', agent_transcript_path })
  expect((await project.drain()).at(-1)).toMatchObject({
    model: 'claude-haiku-4-5',
    what: { kind: 'agent_stopped', usage: { input: 14, output: 1020, cached: null } },
  })
})

test('the counts of Codex are of the whole session, so that a turn is the difference', async () => {
  const project = openCaptured()
  const count = (input: number, output: number, timestamp: string) => ({
    timestamp,
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: { total_token_usage: { input_tokens: input, cached_input_tokens: 2, output_tokens: output } },
    },
  })
  const said = { session_id: 's', cwd: project.folder, turn_id: 't1' }
  project.tell('codex', { ...said, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  const transcript_path = transcript(project, '.codex/sessions/2026/11/22/rollout-1.jsonl', [
    { timestamp: hourAgo(), type: 'session_meta', payload: { cli_version: '0.170.0' } },
    count(100, 10, hourAgo()),
    { timestamp: now(), type: 'turn_context', payload: { model: 'gpt-5.4-codex' } },
    count(130, 15, now()),
    count(160, 22, now()),
  ])
  project.tell('codex', { ...said, hook_event_name: 'Stop', transcript_path })
  expect(await stopOf(project)).toEqual({
    usage: { input: 60, output: 12, cached: 0 },
    model: 'gpt-5.4-codex',
    client: { name: 'codex', version: '0.170.0' },
  })
})

test('a transcript that cannot be read, or lies where none belongs, says nothing: null, and never 0', async () => {
  const project = openCaptured()
  const stray = transcript(project, 'elsewhere/s.jsonl', [
    { timestamp: now(), message: { id: 'm', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
  ])
  for (const [session, transcript_path] of Object.entries({
    stray,
    gone: join(project.home, '.claude/projects/x.jsonl'),
  })) {
    const said = { session_id: session, cwd: project.folder }
    project.tell('claude', { ...said, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
    project.tell('claude', { ...said, hook_event_name: 'Stop', transcript_path })
    expect(await stopOf(project)).toMatchObject({ usage: null, model: null })
  }
})

test('figures of a transcript that no client can have used are unknown', async () => {
  const project = openCaptured()
  const used = (id: string, input: number, output: number) => ({
    timestamp: now(),
    message: { id, model: 'm', usage: { input_tokens: input, output_tokens: output } },
  })
  const transcript_path = transcript(project, '.claude/projects/p/s.jsonl', [
    used('m1', Number.MAX_SAFE_INTEGER, 600_000_000_000),
    used('m2', 10, 600_000_000_000),
  ])
  const hook = { session_id: 's', cwd: project.folder }
  project.tell('claude', { ...hook, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  project.tell('claude', { ...hook, hook_event_name: 'Stop', transcript_path })
  expect(await stopOf(project)).toMatchObject({
    usage: { input: 10, output: null, cached: null },
    model: 'm',
  })
})

test('a pipe as a transcript is not opened, and stalls nothing', async () => {
  const project = openCaptured()
  const transcript_path = join(project.home, '.claude', 'projects', 'p', 's.jsonl')
  mkdirSync(dirname(transcript_path), { recursive: true })
  execFileSync('mkfifo', [transcript_path])
  const said = { session_id: 's', cwd: project.folder, prompt_id: 'p1', transcript_path }
  project.tell('claude', { ...said, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  project.tell('claude', { ...said, hook_event_name: 'Stop' })
  expect(await stopOf(project)).toMatchObject({ usage: null })
  expect(project.events()).toEqual([])
})

test('what Copilot keeps of a session is found by its id', async () => {
  const project = openCaptured()
  const said = { session_id: 'abc', timestamp: now(), cwd: project.folder }
  project.tell('copilot', { ...said, hook_event_name: 'UserPromptSubmit', prompt: 'x' })
  transcript(project, '.copilot/session-state/abc/events.jsonl', [
    {
      type: 'session.start',
      timestamp: hourAgo(),
      data: { copilotVersion: '1.0.102', selectedModel: 'gpt-6' },
    },
    { type: 'assistant.message', timestamp: now(), data: { outputTokens: 12 } },
    { type: 'assistant.message', timestamp: now(), data: { outputTokens: 8 } },
  ])
  project.tell('copilot', { ...said, hook_event_name: 'Stop', stop_reason: 'end_turn' })
  expect(await stopOf(project)).toEqual({
    usage: { input: null, output: 20, cached: null },
    model: 'gpt-6',
    client: { name: 'copilot', version: '1.0.102' },
  })
})
