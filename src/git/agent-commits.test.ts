import { expect, test } from 'vitest'
import { agentOfTrailers } from './agent-commits.ts'

test.each([
  ['Co-Authored-By: Claude <noreply@anthropic.com>', 'Claude'],
  ['Co-authored-by: Claude Opus 4.5 (1M context) <noreply@anthropic.com>', 'Claude'],
  ['Co-authored-by: Cursor <cursoragent@cursor.com>', 'Cursor'],
  ['Co-authored-by: Copilot <198982749+Copilot@users.noreply.github.com>', 'Copilot'],
  ['Co-authored-by: aider (gpt-4o) <noreply@aider.chat>', 'aider'],
  ['Assisted-by: Claude:claude-3-opus coccinelle', 'Claude'],
  ['Assisted-by: Hal 9000', 'Hal 9000'],
  [`Assisted-by: ${'A'.repeat(3000)}`, 'A'.repeat(40)],
  ['Signed-off-by: Ada <ada@example.com>\nGenerated-by: Gemini CLI', 'Gemini'],
  ['Waymark-Task: t-4k2m9x7c0vqa', 'Waymark task'],
  ['Waymark-Task: t-4k2m9x7c0vqa\nCo-authored-by: Codex <noreply@openai.com>', 'Codex'],
])('trailers name their agent: %s', (trailers, agent) => {
  expect(agentOfTrailers(trailers)).toBe(agent)
})

test.each([
  [''],
  ['Signed-off-by: Claude <noreply@anthropic.com>'],
  ['Co-authored-by: Claude Dupont <claude.dupont@example.fr>'],
  ['Co-authored-by: Devin Smith <devin@example.com>'],
  ['Co-authored-by: Ada <12+ada@users.noreply.github.com>'],
  ['Reviewed-by: Copilot'],
])('people are no agents: %s', (trailers) => {
  expect(agentOfTrailers(trailers)).toBeNull()
})
