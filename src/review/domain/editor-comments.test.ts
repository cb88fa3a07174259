import { expect, test } from 'vitest'
import { parseComments, type QuotedFile, quotedDiff } from './editor-comments.ts'

const file: QuotedFile = {
  path: 'src/server.ts',
  tree: null,
  error: null,
  hunks: [
    {
      lines: [
        { kind: ' ', old: 6, new: 7, text: '    const send = () => {' },
        { kind: ' ', old: 7, new: 8, text: '' },
        { kind: '-', old: 8, text: '  12 - old' },
        { kind: '+', new: 9, text: '      10' },
        { kind: ' ', old: 1_234_567, new: 1_234_568, text: '\t}' },
      ],
    },
  ],
}

test('accepts its own lines with indented text, as written and with ends trimmed by the editor', () => {
  const text = quotedDiff([file])
  const trimmed = text.replace(/ +$/gm, '')
  for (const written of [text, trimmed]) expect(parseComments(written, [file])).toEqual([])
  const each = trimmed
    .split('\n')
    .flatMap((line) => (/^> +\d/.test(line) ? [line, `? ${line.length}`] : [line]))
  expect(
    parseComments(each.join('\n'), [file]).map(({ side, line, quoted }) => [side, line, quoted]),
  ).toEqual(
    file.hunks[0]?.lines.map(({ kind, old, new: now, text }) =>
      kind === '-' ? ['old', old, text] : ['new', now, text],
    ),
  )
})
