import { expect, test } from 'vitest'
import { jsonc, jsonWithComments, strictJson } from '../../../src/clients/setup/client.ts'
import { insertJson, jsonFault, removeJson } from '../../../src/clients/setup/edit/json.ts'
import type { Json } from '../../../src/clients/setup/edit/json-text.ts'

const entry = { type: 'stdio', command: 'waymark', args: ['mcp'] }

const fixtures: Readonly<Record<string, string>> = {
  'an empty file': '',
  'white space only': '\n\n',
  'an empty object': '{}',
  'an empty object with a line': '{}\n',
  'an empty object over lines': '{\n}\n',
  'other servers':
    '{\n  "mcpServers": {\n    "other": {\n      "command": "x"\n    }\n  },\n  "last": true\n}\n',
  'an empty list of servers': '{\n  "mcpServers": {}\n}\n',
  'other keys only': '{\n  "theme": "dark",\n  "list": [1, 2]\n}\n',
  tabs: '{\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}\n',
  'four spaces and no last line': '{\n    "mcpServers": {\n        "other": {}\n    }\n}',
  CRLF: '{\r\n  "mcpServers": {\r\n    "other": { "command": "x" }\r\n  }\r\n}\r\n',
  'one line': '{"mcpServers":{"other":{"command":"x"}}}',
  'one line with spaces': '{ "mcpServers": { "other": { "command": "x" } } }\n',
}

const commented: Readonly<Record<string, string>> = {
  'a comment after the last': '{\n  "mcpServers": {\n    "other": {} // note\n  } // end\n}\n',
  'a comment before the end': '{\n  "mcpServers": {\n    "other": {}\n    // nothing else\n  }\n}\n',
  'a comment in an empty object': '{\n  "mcpServers": {\n    // nothing yet\n  }\n}\n',
  'a comment before everything': '// ours\n{\n  /* a, b */ "mcpServers": { "other": 1 }\n}\n',
  'only a comment': '// ours\n',
}

const trailing: Readonly<Record<string, string>> = {
  'a comma after the last': '{\n  "mcpServers": {\n    "other": {},\n  },\n}\n',
  'a comma and a comment after the last': '{\n\t"mcpServers": {\n\t\t"other": {}, // note\n\t},\n}\n',
  'a comma on one line': '{ "mcpServers": { "other": 1, } }',
  'commas and CRLF': '{\r\n  "mcpServers": {\r\n    "other": {}, // note\r\n    // more\r\n  },\r\n}\r\n',
}

const cases = [
  ...Object.entries(fixtures).map(([name, text]) => [name, text, strictJson] as const),
  ...Object.entries(fixtures).map(([name, text]) => [`${name}, with comments allowed`, text, jsonc] as const),
  ...Object.entries(commented).map(([name, text]) => [name, text, jsonWithComments] as const),
  ...Object.entries(trailing).map(([name, text]) => [name, text, jsonc] as const),
]

const leaf = { place: { keys: ['mcpServers', 'waymark'], item: false }, value: entry }

test.each(cases)('%s: an entry goes in by one insertion, and out again to the byte', (name, text, format) => {
  const edited = insertJson(text, format, leaf.place, entry)
  if ('refused' in edited) throw new Error(edited.refused)
  expect(isInsertion(text, edited.text)).toBe(true)
  if (format !== jsonc) expect(edited.text).not.toMatch(/,\s*[}\]]/)
  if (text.includes('\r\n')) expect(edited.text).not.toMatch(/[^\r]\n/)
  expect({ [name]: edited.text }).toMatchSnapshot()
  expect(removeJson(edited.text, edited.insertion, leaf)).toEqual({ text })
})

test.each(cases)('%s: an element of a list goes in and out', (_, text, format) => {
  const place = { keys: ['hooks', 'Stop'], item: true }
  const value = { hooks: [{ type: 'command', command: 'waymark hook stop' }] }
  const first = insertJson(text, format, place, value)
  if ('refused' in first) throw new Error(first.refused)
  const other = { matcher: 'x', hooks: [] }
  const second = insertJson(first.text, format, place, other)
  if ('refused' in second) throw new Error(second.refused)
  const back = removeJson(second.text, second.insertion, { place, value: other })
  expect(back).toEqual({ text: first.text })
  expect(removeJson(first.text, first.insertion, { place, value })).toEqual({ text })
  // The other way round: what came later is not disturbed.
  const without = removeJson(second.text, first.insertion, { place, value })
  if (!('text' in without)) throw new Error('nothing was taken out')
  expect(jsonFault(without.text, format)).toBeNull()
  expect(without.text).toContain('"matcher"')
  expect(without.text).not.toContain('waymark hook stop')
})

test('somebody adds a server beside the entry: only the entry goes', () => {
  const edited = insertJson('{}\n', strictJson, leaf.place, entry)
  if ('refused' in edited) throw new Error(edited.refused)
  const more = edited.text.replace(/\n {2}\}/, ',\n    "later": { "command": "y" }\n  }')
  const removed = removeJson(more, edited.insertion, leaf)
  expect(removed).toEqual({ text: '{\n  "mcpServers": {\n    "later": { "command": "y" }\n  }\n}\n' })
})

test('somebody formats the file anew: the entry goes all the same, and the parents that came with it', () => {
  const edited = insertJson('{ "theme": "dark" }', strictJson, leaf.place, entry)
  if ('refused' in edited) throw new Error(edited.refused)
  const formatted = JSON.stringify(JSON.parse(edited.text), null, 4)
  const removed = removeJson(formatted, edited.insertion, leaf)
  if (!('text' in removed)) throw new Error('nothing was taken out')
  expect(JSON.parse(removed.text)).toEqual({ theme: 'dark' })
})

test('an entry that somebody changed, or put a comment into, stays', () => {
  const edited = insertJson('{\n}\n', jsonc, leaf.place, entry)
  if ('refused' in edited) throw new Error(edited.refused)
  const changed = edited.text.replace('"mcp"', '"mcp", "--read-only"')
  expect(removeJson(changed, edited.insertion, leaf)).toEqual({ changed: 'line 3, column 5' })
  const noted = edited.text.replace('"mcp"', '"mcp" /* mine */')
  expect(removeJson(noted, edited.insertion, leaf)).toEqual({ changed: 'line 3, column 5' })
  expect(removeJson('{}', edited.insertion, leaf)).toEqual({ missing: true })
})

const refusals: readonly (readonly [string, Json])[] = [
  ['{\n  "mcpServers": null\n}', '"mcpServers" is null, not an object, at line 2, column 17'],
  ['{\n  "mcpServers": []\n}', '"mcpServers" is a list, not an object, at line 2, column 17'],
  ['{\n  "mcpServers": {},\n  "mcpServers": {}\n}', '"mcpServers" is there twice, again at line 3, column 3'],
  ['{\n  "a": 1\n  "b": 2\n}', 'a comma is missing at line 3, column 3'],
  ['{\n  "a": 1,\n}', 'the name of a property is missing at line 3, column 1'],
  ['{\n  // mine\n  "a": 1\n}', 'there is a comment, which its client cannot read, at line 2, column 3'],
  ['[]', 'the whole file is a list, not an object, at line 1, column 1'],
  ['{} {}', 'there is more after the end of the value at line 1, column 4'],
]

test.each(refusals)('%s is refused with line and column', (text, why) => {
  expect(insertJson(text, strictJson, leaf.place, entry)).toEqual({ refused: why })
})

function isInsertion(before: string, after: string): boolean {
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  for (let at = start; at >= 0; at -= 1) {
    const end = after.length - (before.length - at)
    if (after.slice(0, at) + after.slice(end) === before) return true
  }
  return false
}
